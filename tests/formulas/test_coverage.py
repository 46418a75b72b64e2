"""How much of what people run is covered: by a line of torch's table, and by a written entry that was checked."""

import warnings
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from gradwalk.formulas.derivatives import derivative_line
from gradwalk.formulas.registry import entry_of
from tests.formulas.live_nodes import Met, run_backward

WITHOUT_A_LINE = {
    "torch::autograd::CopySlices": "a view was written in place: the engine's own node, described by hand",
    "torch::autograd::CopyBackwards": "copy_: the engine's own node, has a written entry",
}
"""Nodes that torch makes outside derivatives.yaml. Custom Functions and `GeneratedBackwardFor_...` are the others."""


def cnn() -> Tensor:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 3),
    )  # fmt: skip
    return functional.cross_entropy(model(torch.randn(2, 1, 8, 8)), torch.tensor([0, 2]))


def lstm() -> Tensor:
    embedded = nn.Embedding(10, 4)(torch.randint(10, (6, 2)))
    outputs, _ = nn.LSTM(4, 5)(embedded)
    cell = nn.LSTMCell(5, 5)
    hidden, _ = cell(outputs[-1])
    gru, _ = nn.GRU(5, 4)(outputs)
    return functional.cross_entropy(nn.Linear(5, 10)(hidden), torch.tensor([1, 2])) + gru.mean()


def transformer() -> Tensor:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    decoder = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    tokens = nn.Embedding(12, 8)(torch.randint(12, (2, 5)))
    memory = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)(tokens)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    logits = nn.Linear(8, 12)(decoder(tokens, memory, tgt_mask=mask))
    return functional.cross_entropy(logits.reshape(-1, 12), torch.randint(12, (10,)))


def vae() -> Tensor:
    x = torch.rand(3, 1, 8, 8)
    hidden = functional.relu(nn.Conv2d(1, 4, 4, 2, 1)(x)).flatten(1)
    mean, log_variance = nn.Linear(64, 2)(hidden), nn.Linear(64, 2)(hidden)
    latent = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
    decoded = nn.ConvTranspose2d(4, 1, 4, 2, 1)(functional.relu(nn.Linear(2, 64)(latent)).view(3, 4, 4, 4))
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
    return functional.binary_cross_entropy(decoded.sigmoid(), x, reduction="sum") + divergence


MODELS: list[Callable[[], Tensor]] = [cnn, lstm, transformer, vae]


@pytest.mark.parametrize("model", MODELS)
def test_nine_nodes_of_ten_in_a_model_have_a_formula_and_none_is_wrong(model: Callable[[], Tensor]) -> None:
    """Leaves (AccumulateGrad) are not counted."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = [(visit.node_name, visit.check()) for visit in run_backward([model()], fill=1)]
    assert [node_name for node_name, holds in verdicts if holds is False] == []
    assert sum(holds is True for _, holds in verdicts) >= 0.9 * len(verdicts), Counter(verdicts)


def test_nodes_of_the_operator_database_have_a_line(visits_of_operators: list[Met]) -> None:
    names = {visit.node_name for _, visit in visits_of_operators}
    without = {name for name in names if not derivative_line(name)}
    assert {name for name in without if not name.startswith("GeneratedBackwardFor_")} <= WITHOUT_A_LINE.keys()
    assert len(without) <= 5
    assert sum(entry_of(name) is not None for name in names) >= 0.75 * len(names)
