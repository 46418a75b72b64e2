"""Programs that the zygote traces before it forks its first child.

Torch imports many modules at first use, and a locked child can import nothing. So whatever a program may
make torch import has to be touched here once, in the parent. Each entry is traced like a student's program.
"""

_NAMES = """
abc argparse array ast asyncio atexit base64 binascii bisect bz2 calendar cmath code codecs collections
collections.abc colorsys concurrent.futures configparser contextlib contextvars copy copyreg cProfile csv ctypes
dataclasses datetime decimal difflib dis doctest email.utils enum errno faulthandler filecmp fileinput fnmatch
fractions ftplib functools gc getopt getpass gettext glob graphlib gzip hashlib heapq hmac html html.parser http
http.client importlib.metadata importlib.resources importlib.util inspect io ipaddress itertools json keyword
linecache locale logging logging.config logging.handlers lzma marshal math mimetypes multiprocessing
multiprocessing.pool numbers opcode operator optparse os os.path pathlib pdb pickle pickletools pkgutil platform
pprint profile pstats queue quopri random re reprlib resource sched secrets select selectors shelve shlex shutil
signal smtplib socket sqlite3 ssl stat statistics string struct subprocess symtable sys sysconfig tarfile tempfile
textwrap threading time timeit token tokenize traceback tracemalloc types typing typing_extensions unicodedata
unittest unittest.mock urllib.error urllib.parse urllib.request uuid warnings weakref xml.etree.ElementTree zipfile
zlib zoneinfo __future__ numpy.fft numpy.lib.stride_tricks numpy.linalg numpy.ma numpy.polynomial numpy.random
numpy.testing numpy.typing torch.ao.nn torch.autograd.forward_ad torch.autograd.functional torch.autograd.graph
torch.autograd.profiler torch.backends.cudnn torch.cuda.amp torch.distributions torch.fft torch.func torch.fx
torch.jit torch.linalg torch.masked torch.multiprocessing torch.nested torch.nn.functional torch.nn.init
torch.nn.modules torch.nn.parallel torch.nn.parameter torch.nn.utils torch.nn.utils.clip_grad torch.nn.utils.fusion
torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn
torch.nn.utils.stateless torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.profiler
torch.quantization torch.sparse torch.special torch.testing torch.types torch.utils.benchmark torch.utils.checkpoint
torch.utils.data torch.utils.data.dataset torch.utils.data.distributed torch.utils.flop_counter torch.utils.hooks
torch.utils.dlpack torch.utils.serialization torch.utils.serialization.config torch.package encodings.idna
encodings.ascii encodings.latin_1 encodings.utf_16 encodings.utf_32 encodings.cp1252 einops einops.layers.torch
multiprocessing.queues multiprocessing.synchronize
"""
MODULES: tuple[str, ...] = tuple(_NAMES.split())
"""What computes of the standard library, of numpy and of torch, and what is installed beside them."""

PROGRAMS: tuple[str, ...] = (
    # What every lesson does.
    """
import torch
import torch.nn as nn
import torch.nn.functional as F

x = torch.randn(4, 3, requires_grad=True)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2), nn.Dropout(0.1))
loss = F.cross_entropy(model(x), torch.tensor([0, 1, 1, 0]))
loss.backward()
print(x.grad, repr(model), f"{loss.item():.3f}", loss.grad_fn, torch.randn(100, 100))
""",
    # An expression with free variables, and no backward call.
    "sin(x * y) + x",
    # A custom Function, several passes, higher order.
    """
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x * grad_output

x = torch.tensor([1.0, 2.0], requires_grad=True)
Square.apply(x).sum().backward()
(g,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
g.sum().backward()
torch.autograd.functional.jacobian(lambda t: t ** 2, torch.ones(2))
torch.autograd.functional.hessian(lambda t: (t ** 3).sum(), torch.ones(2))
torch.autograd.functional.vjp(lambda t: t ** 2, torch.ones(2), torch.ones(2))
torch.autograd.gradcheck(lambda t: (t ** 2).sum(), torch.randn(3, dtype=torch.double, requires_grad=True))
""",
    # Modules.
    """
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5))
F.cross_entropy(net(torch.randn(6, 1, 8, 8)), torch.randint(0, 5, (6,))).backward()
for cell in (nn.LSTM(4, 8, 2), nn.GRU(4, 8), nn.RNN(4, 8)):
    output, _ = cell(torch.randn(5, 2, 4))
    output.sum().backward()
nn.TransformerEncoderLayer(16, 2, 32)(torch.randn(3, 2, 16)).sum().backward()
nn.MultiheadAttention(16, 2)(*[torch.randn(3, 2, 16)] * 3)[0].sum().backward()
nn.Embedding(10, 3)(torch.tensor([1, 2])).sum().backward()
nn.LayerNorm(4)(torch.randn(2, 4)).sum().backward()
F.scaled_dot_product_attention(*[torch.randn(1, 2, 4, 8, requires_grad=True)] * 3).sum().backward()
""",
    # Optimisers and schedulers; the first of them imports torch._dynamo.
    """
import torch
import torch.nn as nn

model = nn.Linear(3, 1)
for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"):
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    loss = (model(torch.randn(4, 3)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
torch.optim.LBFGS(model.parameters()).step(lambda: torch.zeros(()))
""",
    # Linear algebra and other corners with lazy parts.
    """
import torch

a = torch.randn(4, 4, dtype=torch.double, requires_grad=True)
torch.linalg.inv(a).sum().backward()
torch.linalg.svd(a.detach())
torch.linalg.eigh((a @ a.T).detach())
torch.linalg.eig(a.detach())
torch.linalg.solve(a.detach(), torch.ones(4, dtype=torch.double))
torch.fft.fft(torch.randn(32))
torch.special.bessel_j0(torch.ones(3))
torch.einsum("ij,jk->ik", torch.ones(2, 3, requires_grad=True), torch.ones(3, 4)).sum().backward()
torch.randn(3).numpy()
torch.distributions.Normal(torch.zeros(2), torch.ones(2)).log_prob(torch.ones(2))
torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)).to_dense()
""",
    """
import torch
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, vmap

vmap(grad(lambda x: x ** 3))(torch.ones(3))
hessian(lambda x: (x ** 3).sum())(torch.ones(3))
jacrev(lambda x: x ** 2)(torch.ones(3))
jacfwd(lambda x: x * 2)(torch.ones(3))
functional_call(torch.nn.Linear(2, 2), {}, (torch.ones(2),))
""",
    """
import torch
from torch.utils.checkpoint import checkpoint

checkpoint(lambda x: x.sin(), torch.ones(3, requires_grad=True), use_reentrant=False).sum().backward()
x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    y = (x ** 2).sum()
with torch.no_grad(), torch.autograd.set_detect_anomaly(False):
    x * 2
y.register_hook(lambda g: g * 2)
y.backward()
""",
    # Mistakes: their messages are built by code that is imported when it is first needed.
    "import torch\ntorch.ones(2) @ torch.ones(3)",
    "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()",
    "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.sum()\ny.backward()\ny.backward()",
    "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).backward()",
    "import torch\ntorch.zeros(10 ** 13)",
    "x = undefined_name + 1",
    "x = (",
    "import dataclasses, collections, functools, itertools, typing, math, random, time, copy, contextlib, abc, enum",
    "import re, string, operator, statistics, fractions, decimal, numbers, datetime, json, pprint, textwrap",
)

CHECKED: tuple[str, ...] = (
    "x = torch.tensor([0.0, 2.0], requires_grad=True)\ntorch.relu(x).sum().backward()\n",
    """\
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2
    @staticmethod
    def backward(ctx, v):
        x, = ctx.saved_tensors
        return v * 3 * x
x = torch.tensor([1.0, 2.0], requires_grad=True)
Wrong.apply(x).backward(torch.ones(2))
""",
)
"""Programs that are compared with finite differences once, so that a child finds every module loaded."""
