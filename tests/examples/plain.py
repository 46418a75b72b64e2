"""Running an example as anybody would, with nobody watching: the oracle for what the tracer records."""

import ast
import contextlib
import io

import torch

from gradwalk.examples.example import Example


def run_plainly(example: Example) -> tuple[dict[str, object], list[str], str]:
    """Namespace, printed lines and error text of a program that nobody watches.

    Free variables and the external gradient come from the options, as the tracer does it.
    """
    torch.manual_seed(0)
    inputs = {
        name: torch.tensor(value, requires_grad=True) for name, value in example.options.get("inputs", {}).items()
    }
    namespace: dict[str, object] = {"__name__": "__main__", **inputs}
    if inputs:
        namespace["sin"] = torch.sin
    tree = ast.parse(example.source)
    last = tree.body[-1]
    if isinstance(last, ast.Expr) and inputs:
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("result", ast.Store())], last.value), last)
        ast.fix_missing_locations(tree)
    printed = io.StringIO()
    error = ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(tree, "<program>", "exec"), namespace)
        except RuntimeError as caught:
            error = str(caught)
    if inputs:
        namespace["result"].backward()
    if "grad_output" in example.options:
        namespace["y"].backward(torch.tensor(example.options["grad_output"]))
    return namespace, printed.getvalue().splitlines(), error
