"""Builds `derivatives.json` from the derivatives table inside the installed torch wheel.

    python -m gradwalk.formulas.derive

Run it once per torch version and commit the result; a test compares the file with a fresh run. It takes
five seconds and needs PyYAML, which neither torch nor a running gradwalk depends on.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torchgen  # type: ignore[import-untyped]
from torchgen.packaged.autograd.load_derivatives import load_derivatives  # type: ignore[import-untyped]

from gradwalk.formulas.derivatives import TABLE_PATH


def derive_table() -> dict[str, Any]:
    """The content of `derivatives.json`: one record per autograd node name, sorted by name."""
    packaged = Path(torchgen.__file__).parent / "packaged"
    infos, _ = load_derivatives(
        str(packaged / "autograd" / "derivatives.yaml"),
        str(packaged / "ATen" / "native" / "native_functions.yaml"),
        str(packaged / "ATen" / "native" / "tags.yaml"),
    )
    nodes = {
        info.op: _record(info)
        for by_dispatch_key in infos.values()
        for info in by_dispatch_key.values()
        if info.args_with_derivatives
    }
    return {"torch": version("torch").partition("+")[0], "nodes": dict(sorted(nodes.items()))}


def _record(info: Any) -> dict[str, Any]:
    schema = info.func.func
    operands = [argument.name for argument in info.args_with_derivatives]
    lines = sorted(info.derivatives, key=lambda line: min(operands.index(name) for name in line.var_names))
    record = {
        "op": str(schema.name.name),
        "schema": str(schema),
        "operands": operands,
        "outputs": _output_names(info),
        "lines": [f"{', '.join(line.var_names)}: {line.original_formula}" for line in lines],
    }
    lists = [argument.name for argument in info.args_with_derivatives if "List" in str(argument.type)]
    return record | ({"lists": lists} if lists else {})


def _output_names(info: Any) -> list[str]:
    """Differentiable returns in the order of `grad_output` slots, named as the table's formulas name them."""
    returns = info.func.func.returns
    single = len(returns) == 1
    names = [
        returned.name or ("result" if single else f"result{position}") for position, returned in enumerate(returns)
    ]
    differentiable = info.output_differentiability or [True] * len(names)
    return [
        name
        for name, returned, wanted in zip(names, returns, differentiable, strict=True)
        if wanted and "Tensor" in str(returned.type)
    ]


def render_table(table: dict[str, Any]) -> str:
    """JSON with one node per line, so that a torch upgrade can be read as a diff."""
    nodes = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(record, ensure_ascii=False)}" for name, record in table["nodes"].items()
    )
    return f'{{"torch": {json.dumps(table["torch"])}, "nodes": {{\n{nodes}\n}}}}\n'


if __name__ == "__main__":
    written = render_table(derive_table())
    TABLE_PATH.write_text(written, encoding="utf-8")
    sys.stdout.write(f"{TABLE_PATH.name}: {len(written)} characters\n")
