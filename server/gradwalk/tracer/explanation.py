"""Errors of the program as facts that a student can act on.

Each entry of `EXPLANATIONS` knows one way in which PyTorch complains. Its own words always come along:
the fact explains them, it does not replace them.
"""

import difflib
import json
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from types import FrameType, TracebackType
from typing import Any, Final

import torch
from torch.nn.modules.loss import _Loss

from gradwalk.protocol.events import Problem, ProblemKind
from gradwalk.protocol.facts import Fact, Filling, Shape, code, fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.tracer.culprits import Culprits
from gradwalk.tracer.frames import Place, frames_in
from gradwalk.tracer.interruption import TimeLimitError
from gradwalk.tracer.originals import PROGRAM_FILES, Tensor, grad_fn_of
from gradwalk.tracer.places import Places

_WORDS_MAX: Final = 600
_TEXT_MAX: Final = 2_000
_UNUSED: Final = (
    r"(?:The differentiated Tensor at index (?P<index>\d+)|One of the differentiated Tensors) "
    r"appears to not have been used"
)
_OF_NONE: Final = re.compile(r"'NoneType'")
_NONE_TYPE: Final = re.compile(r"\bNoneType\b")
_GRAD: Final = re.compile(r"\b([^\W\d]\w*(?:\.\w+)*)\.(grad|grad_fn)\b")
_SEVERAL: Final = r"'torch\.return_types\.\w+' object has no attribute '\w+'"
_NO_BACKWARD: Final = rf"^(?!{_SEVERAL})'(?P<type>[\w.]+)' object has no attribute 'backward'"
_WITHOUT_BACKWARD: Final = {
    **dict.fromkeys(("builtin_function_or_method", "function", "method"), "call"),
    **dict.fromkeys(("tuple", "list", "dict"), "several"),
}
"""By type, what somebody meant who calls `backward` on it."""
_NO_ALLOCATION: Final = r"DefaultCPUAllocator: (?:can't allocate|not enough) memory|^Not enough memory to allocate"
"""torch's words, and orjson's, with which gradients are spelled."""


Explain = Fact | Callable[["re.Match[str]", Culprits], Fact | None]

_KINDS: Final[dict[str, ProblemKind]] = {
    "problem-out-of-time": "timeout",
    "problem-memory": "memory",
    "problem-memory-tensor": "memory",
    "problem-input-not-required": "not_differentiable",
    "problem-no-history": "not_differentiable",
    "problem-no-history-constant": "not_differentiable",
    "problem-no-history-cut": "not_differentiable",
    "problem-no-history-inside": "not_differentiable",
    "problem-no-history-listed": "not_differentiable",
    "problem-no-history-last-cut": "not_differentiable",
    "problem-no-history-plain": "not_differentiable",
}
"""By the kind of the fact, where it is not `error`."""


def explain_error(error: BaseException, culprits: Culprits) -> Problem:
    """The problem for an exception that the program raised, at the line where it came from."""
    text = words_of(error)
    found, words = _explain_by_type(error), None
    if found is None:
        found = _explain_by_text(text, culprits)
        words = _first_sentence(text)
        found = _explain_by_frames(error, found)
    if found is None:
        found, words = _raised(error), None
    elif found["kind"] == "problem-refused":
        words = None
    if found["kind"].startswith("problem-grad-"):
        culprits.cause = culprits.return_span()
    elif found.get("operands", {}).get("about") == "save" and (function := _function_that_raised(error)):
        # torch finds it when forward has returned.
        culprits.cause = culprits.saves(function, "")
    span = culprits.cause or culprits.places.span(place_of(error.__traceback__))
    if span is None and found["kind"].startswith("problem-hook-"):
        span = culprits.hook_span()
    span = span or culprits.span
    return problem(_KINDS.get(found["kind"], "error"), found, span=span, words=words)


def _function_that_raised(error: BaseException) -> type | None:
    """The custom Function whose `apply` did."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    applied = (frame.f_locals.get("cls") for frame in reversed(frames) if frame.f_code.co_name == "apply")
    return next(applied, None)


def unused_input(error: BaseException, unreached: Sequence[int]) -> int | None:
    """Which input of a `torch.autograd.grad` the error says that nothing leads to.

    Before 2.13 torch may not say which: it means the first of those that the graph does not reach.
    """
    match = re.match(_UNUSED, _text_of(error))
    if match is None:
        return None
    return next(iter(unreached), None) if match["index"] is None else int(match["index"])


def internal_problem(error: BaseException, span: Span | None) -> Problem:
    """The problem for a fault of our own, with where it is in our code, or for a tensor that cannot be read."""
    if "not supported for tensor subclasses" in str(error):
        return problem("error", fact("problem-no-memory"), span=span, words=words_of(error))
    frames, name = traceback.extract_tb(error.__traceback__), type(error).__name__
    found = (
        fact("problem-internal-in", name=name, function=frames[-1].name, line=str(frames[-1].lineno))
        if frames
        else fact("problem-internal", name=name)
    )
    return problem("internal", found, words=words_of(error))


def intrusion_problem(error: BaseException, places: Places) -> Problem:
    """The problem for code of the program that failed when the recorder read something, such as a tensor's property."""
    found = fact("problem-intrusion", name=type(error).__name__)
    return problem("error", found, span=places.span(place_of(error.__traceback__)), words=words_of(error))


def damage_problem(what: str, error: BaseException, span: Span | None) -> Problem:
    """The problem for a program that broke the interpreter, so that recording failed."""
    return problem("error", fact("problem-interpreter-broken", what=what), span=span, words=words_of(error))


def unknown_name(error: BaseException, instead: Fact) -> Fact:
    """A name that nothing gave a value, and what to do about it."""
    return fact("problem-unknown-name", text=words_of(error), instead=instead)


def explain_none_grad(error: BaseException, found: Problem, places: Places) -> None:
    """Adds to the problem of a TypeError or AttributeError what a `.grad` or `.grad_fn` in its line says about it."""
    if not isinstance(error, TypeError | AttributeError) or not _OF_NONE.search(str(error)):
        return
    for frame, offset in [*_program_frames(error.__traceback__)][-1:]:
        text = places.text((frame.f_code, offset), characters_max=200)
        for name, attribute in () if text is None else _GRAD.findall(text):
            tensor = _resolve(name, frame)
            if isinstance(tensor, Tensor) and getattr(tensor, attribute) is None:
                found["fact"] = _why_none(name, tensor) if attribute == "grad" else _why_no_grad_fn(name, tensor)
                found["words"] = words_of(error)
                return


def explain_without_result(error: BaseException, found: Problem, function: type, span: Span) -> None:
    """Makes of an error about None, after this Function gave None, the problem of its forward, written at `span`."""
    if isinstance(error, TypeError | AttributeError) and _NONE_TYPE.search(str(error)):
        found["fact"] = fact("problem-forward-nothing", function=function.__name__, line=str(span["line"]))
        found["span"], found["words"] = span, words_of(error)


def _why_none(name: str, tensor: torch.Tensor) -> Fact:
    if grad_fn_of(tensor) is not None:
        return fact("problem-grad-none-result", name=name)
    if not tensor.requires_grad:
        return fact("problem-grad-none-not-required", name=name)
    return fact("problem-grad-none-before", name=name)


def _why_no_grad_fn(name: str, tensor: torch.Tensor) -> Fact:
    return fact("problem-no-grad-fn", name=name, about="leaf" if tensor.requires_grad else "plain")


def _resolve(path: str, frame: FrameType) -> Any:
    """What a dotted name stands for. Of modules only parameters and modules: nothing of the program runs."""
    first, *rest = path.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for key in rest:
        if not isinstance(value, torch.nn.Module):
            return None
        # Neither is there where `__init__` did not call Module's.
        own = vars(value)
        value = own.get("_parameters", {}).get(key, own.get("_modules", {}).get(key))
    return value


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed: Python's own, or that of a tensor or of its numbers as text."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError | ValueError) and re.search(_NO_ALLOCATION, _text_of(error)) is not None
    )


def room_ended(error: BaseException, span: Span | None) -> tuple[str, Problem] | None:
    """The limit and its problem, where memory or room for nested calls ran out while recording; else None."""
    if is_out_of_memory(error):
        return "memory", problem("memory", fact("problem-memory-recorded"), span=span)
    if isinstance(error, RecursionError):
        return "recursion", problem("error", fact("problem-recursion-recorded"), span=span)
    return None


def words_of(error: BaseException) -> str:
    """The error's text, as far as a problem holds it."""
    return _text_of(error).strip()[:_WORDS_MAX]


def _text_of(error: BaseException) -> str:
    """The error's text; a program's own class may fail to give one, which Python itself shows like this."""
    try:
        # Every pattern is looked for from each letter on: twenty thousand would take longer than the program may.
        return str(error)[:_TEXT_MAX]
    except Exception:  # noqa: BLE001 (it is the program's code)
        return "<exception str() failed>"


def place_of(trace: TracebackType | None) -> Place | None:
    """The innermost instruction of the program in a traceback."""
    places = [(frame.f_code, offset) for frame, offset in _program_frames(trace)]
    return places[-1] if places else None


def _program_frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    return (each for each in frames_in(trace) if each[0].f_code.co_filename in PROGRAM_FILES)


def comes_of_recorder(error: BaseException) -> bool:
    """Whether it was raised in our own code, whatever called that."""
    frames = [frame for frame, _ in frames_in(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals["__name__"].startswith("gradwalk.")


def _first_sentence(text: str) -> str:
    line = text.strip().partition("\n")[0]
    sentence, stop, _ = line.partition(". ")
    return (sentence + stop.strip())[:_WORDS_MAX]


def _explain_by_type(error: BaseException) -> Fact | None:
    for types, explain in _BY_TYPE:
        if isinstance(error, types):
            return explain(error) if callable(explain) else explain
    return None


def _explain_by_text(text: str, culprits: Culprits) -> Fact | None:
    for pattern, explain in EXPLANATIONS:
        match = re.search(pattern, text)
        if match is not None:
            return explain(match, culprits) if callable(explain) else explain
    return None


def _explain_by_frames(error: BaseException, found: Fact | None) -> Fact | None:
    """The fact, or a better one where the frames of the traceback show what layer, loss or Function it is about."""
    frames = [frame for frame, _ in frames_in(error.__traceback__)]
    if found is None:
        about = _asked_wrongly(error, frames)
        return fact("problem-refused", about=about, text=words_of(error)) if about else None
    names = frames[-1].f_locals if frames else {}
    if "to an index" in _text_of(error) and any(map(_holds_tensors, names.values())):
        return fact("problem-refused", about="tuple", text=words_of(error))
    methods = [frame.f_locals.get("self") for frame in frames if "self" in frame.f_code.co_varnames]
    modules = [each for each in methods if issubclass(type(each), torch.nn.Module)]
    if found["kind"] == "problem-refused" and modules and type(modules[-1]) is torch.nn.LSTM:
        return {**found, "operands": {**found["operands"], "about": "pair"}}
    if found["kind"] == "problem-two-dtypes" and any(map(_is_of_loss, frames)):
        return fact("problem-target-class", dtype=found["operands"]["right"])
    if found["kind"] not in ("problem-matrix-shapes", "problem-several-numbers"):
        return found
    if found["kind"] == "problem-several-numbers":
        is_loss = bool(modules) and issubclass(type(modules[-1]), _Loss)
        return fact("problem-several-numbers", about="loss") if is_loss else found
    return _linear(found, modules) if modules and type(modules[-1]) is torch.nn.Linear else found


def _is_of_loss(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") == "torch.nn.functional" and frame.f_code.co_name.endswith("_loss")


def _asked_wrongly(error: BaseException, frames: Sequence[FrameType]) -> str | None:
    """What is wrong about a call of a pass, or of a custom Function's method, that does not take what it was given."""
    text, last = _text_of(error), frames[-1] if frames else None
    if last is not None and last.f_code.co_name == "_tensor_or_tensors_to_tuple":
        return "seed"
    if "values to unpack" in text and last is not None and any(map(_is_context, last.f_locals.values())):
        return "saved"
    if last is not None and re.match(r"\w+\.backward\(\) (?:missing|takes) ", text):
        return "grad-outputs" if _is_context(last.f_locals.get("self")) else None
    call = re.match(r"(\w+)\.forward\(\) (?:missing|takes) ", text)
    classes = [_resolve(call[1], frame) for frame in frames] if call else []
    if any(isinstance(each, type) and issubclass(each, torch.autograd.Function) for each in classes):
        return "ctx-first" if any(frame.f_code.co_name == "apply" for frame in frames) else "apply"
    return None


def _is_context(value: Any) -> bool:
    return issubclass(type(value), torch.autograd.function.FunctionCtx)


def _holds_tensors(value: Any) -> bool:
    return type(value) is tuple and bool(value) and all(isinstance(each, Tensor) for each in value)


def _linear(found: Fact, modules: Sequence[Any]) -> Fact:
    """The sizes of a product in the innermost of these modules, with its name in those that called it."""
    got, size, weight = (str(found["operands"][name]) for name in ("columns", "rows", "right"))
    tables = [(vars(module).get("_modules", {}), called) for module, called in pairwise(modules)]
    path = [name for table, called in tables for name, each in table.items() if each is called]
    what = f"{'.'.join(path)} = " * bool(path) + f"nn.Linear({weight.replace('x', ', ')}): input.shape[-1]"
    return fact("problem-size", about="linear", what=what, expected=size, got=got)


def _raised(error: BaseException) -> Fact:
    name, text = type(error).__name__, words_of(error)
    return fact("problem-raised", name=name, text=text) if text else fact("problem-raised-silent", name=name)


def _exited(error: Any) -> Fact:
    return fact("problem-exited-with", code=repr(error.code)[:_WORDS_MAX])


def _attribute_unknown(error: Any) -> Fact | None:
    if re.search(_NO_BACKWARD, _text_of(error)):
        return None
    if error.name == "zero_grad" and isinstance(error.obj, Tensor):
        return fact("problem-refused", about="zero-grad", text=words_of(error))
    if isinstance(error.obj, torch.autograd.Function):
        return fact("problem-refused", about="apply", text=words_of(error))
    near = difflib.get_close_matches(str(error.name), dir(error.obj), n=1, cutoff=0.7) if error.name else []
    if not near:
        return None
    return fact("problem-raised-near", name=type(error).__name__, text=words_of(error), near=near[0])


_BY_TYPE: Final[tuple[tuple[type[BaseException], Fact | Callable[[Any], Fact | None]], ...]] = (
    (SystemExit, _exited),
    (TimeLimitError, fact("problem-out-of-time")),
    (KeyboardInterrupt, fact("problem-interrupted")),
    (RecursionError, fact("problem-recursion")),
    (MemoryError, fact("problem-memory")),
    (NameError, lambda error: unknown_name(error, fact("problem-assign-first"))),
    (AttributeError, _attribute_unknown),
)


def _freed(_match: "re.Match[str]", culprits: Culprits) -> Fact:
    saved: list[Filling] = [code(name) for name in culprits.saved_names()]
    needed: Filling = saved or fact("problem-saved-tensors")
    line = culprits.earlier_line()
    if line is None:
        return fact("problem-freed", node=culprits.failed_node(), saved=needed)
    if culprits.is_repeated():
        return fact("problem-freed-in-loop", node=culprits.failed_node(), saved=needed, line=line)
    return fact("problem-freed-in-line", node=culprits.failed_node(), saved=needed, line=line)


def _changed_in_place(match: "re.Match[str]", culprits: Culprits) -> Fact:
    now, saved = match["now"], match["saved"]
    changed = culprits.changed_tensor(int(saved), int(now))
    culprits.cause = changed.span
    node, tensor, writes = culprits.failed_node(), changed.tensor, changed.writes
    if changed.is_part:
        return fact("problem-changed-in-place-part", node=node, tensor=tensor, saved=saved, now=now, writes=writes)
    return fact("problem-changed-in-place", node=node, tensor=tensor, saved=saved, now=now, writes=writes)


def _wrong_shape(match: "re.Match[str]", culprits: Culprits) -> Fact:
    got, expected = _shape(match["got"]), _shape(match["expected"])
    is_of_other = got["shape"] in culprits.shapes_of_arguments()
    is_transposed = got["shape"] == expected["shape"][::-1]
    return fact(
        "problem-grad-shape",
        function=culprits.function_name(match["function"]),
        argument=culprits.argument(int(match["index"])),
        got=got,
        expected=expected,
        about="order" if is_of_other else "transposed" if is_transposed else "other",
    )


def _shape(text: str) -> Shape:
    """`[2, 3]` of a message."""
    return {"shape": json.loads(text)}


def _wrong_count(match: "re.Match[str]", culprits: Culprits) -> Fact:
    function, got, expected = culprits.function_name(match["function"]), match["got"], match["expected"]
    names: list[Filling] = [code(name) for name in culprits.forward_arguments()]
    if not names:
        return fact("problem-grad-count", function=function, got=got, expected=expected)
    return fact("problem-grad-count-named", function=function, got=got, expected=expected, names=names)


def _not_none(match: "re.Match[str]", culprits: Culprits) -> Fact:
    # This message counts from 1.
    argument = culprits.argument(int(match["index"]) - 1)
    return fact("problem-grad-not-none", function=culprits.function_name(match["function"]), argument=argument)


def _wrong_kind(match: "re.Match[str]", culprits: Culprits) -> Fact:
    return fact(
        "problem-grad-kind",
        function=culprits.function_name(match["function"]),
        argument=culprits.argument(int(match["index"])),
        what="dtype" if match["what"] == "type" else match["what"],
        got=match["got"],
        expected=match["expected"],
    )


def _nan_found(match: "re.Match[str]", culprits: Culprits) -> Fact:
    operand = culprits.operand_of_node(int(match["index"]))
    return fact("problem-nan-returned", node=culprits.failed_node(), operand=operand)


def _no_backward(match: "re.Match[str]", culprits: Culprits) -> Fact:
    last, kind = culprits.last_cut(), match["type"]
    about = "loss" if kind.endswith("Loss") else _WITHOUT_BACKWARD.get(kind, "number")
    if last is None or about != "number":
        return fact("problem-no-backward", type=kind, about=about)
    return fact("problem-no-backward-cut", type=match["type"], call=last)


def _hook_value(match: "re.Match[str]", _culprits: Culprits) -> Fact:
    return fact("problem-hook-value", hook=match["hook"], what="dtype" if match["what"] == "type" else "shape")


def _hook_kind(match: "re.Match[str]", _culprits: Culprits) -> Fact:
    if match["expected"] == "tuple":
        return fact("problem-hook-tuple", got=match["got"])
    return fact("problem-hook-tensor", got=match["got"])


def _unused_input(match: "re.Match[str]", culprits: Culprits) -> Fact | None:
    unused = culprits.unused
    position = match["index"] if unused is None else unused.position
    if position is None:
        return None
    named = (
        fact("problem-input-number", number=str(int(position) + 1))
        if unused is None or unused.name is None
        else code(unused.name)
    )
    if unused is None or unused.detail is None:
        return fact("problem-unused-input", input=named)
    return fact("problem-unused-input-because", input=named, because=unused.detail)


def _matrix_shapes(match: "re.Match[str]", culprits: Culprits) -> Fact:
    left, right = match["left"], match["right"]
    columns, rows = left.partition("x")[2], right.partition("x")[0]
    about = "backward" if culprits.forward_arguments() else "other"
    return fact("problem-matrix-shapes", left=left, right=right, columns=columns, rows=rows, about=about)


def _no_such_class(match: "re.Match[str]", _culprits: Culprits) -> Fact:
    target = match["target"]
    if int(target) < 0:
        return fact("problem-target-negative", target=target)
    return fact("problem-target-too-large", target=target, columns=str(int(target) + 1))


def _two_dtypes(match: "re.Match[str]", _culprits: Culprits) -> Fact:
    return fact("problem-two-dtypes", left=match["left"], right=match["right"])


def _size(about: str, what: str, pattern: str) -> tuple[str, Explain]:
    """A size that `what` must have: the pattern has it as `expected`, and the one that was given as `got`."""
    return pattern, lambda match, _: fact(
        "problem-size", about=about, what=match.expand(what), expected=match["expected"], got=match["got"]
    )


def _refused(about: str, pattern: str) -> tuple[str, Explain]:
    """An error whose own words, as far as the pattern reaches, say what is wrong; with what to do about it."""
    return pattern, lambda match, _: fact("problem-refused", about=about, text=" ".join(match[0].split())[:_WORDS_MAX])


def _channels(match: "re.Match[str]", _culprits: Culprits) -> Fact:
    # Counted from the end, as an input may come without a batch.
    what = f"input.shape[-{match['sizes'].count(',')}]"
    return fact("problem-size", about="conv", what=what, expected=match["expected"], got=match["got"])


def _input_axes(match: "re.Match[str]", _culprits: Culprits) -> Fact:
    axes = {"1": "[N, C, L]", "2": "[N, C, H, W]", "3": "[N, C, D, H, W]"}[match["axes"]]
    return fact("problem-size", about="axes", what="input.shape", expected=axes, got=match["got"])


_SIZES: Final[tuple[tuple[str, Explain], ...]] = (
    _size(
        "target",
        "target.shape",
        r"Target size \(torch\.Size\((?P<got>\[.*?\])\)\) must be the same as input size "
        r"\(torch\.Size\((?P<expected>\[.*?\])\)\)",
    ),
    _size(
        "target",
        "target.shape",
        r"Using a target size \(torch\.Size\((?P<got>\[.*?\])\)\) that is different to the input size "
        r"\(torch\.Size\((?P<expected>\[.*?\])\)\) is deprecated",
    ),
    _size(
        "rows",
        "len(target)",
        r"Expected input batch_size \((?P<expected>\d+)\) to match target batch_size \((?P<got>\d+)\)",
    ),
    _size("classes", "target.shape", r"Expected target size (?P<expected>\[.*?\]), got (?P<got>\[.*?\])"),
    (
        r"expected input(?P<sizes>\[.*?\]) to have (?P<expected>\d+) channels, but got (?P<got>\d+) channels",
        _channels,
    ),
    (r"Expected \dD \(.*?input to conv\D*(?P<axes>\d)d, but got input of size: (?P<got>\[.*?\])", _input_axes),
    _size(
        "stack",
        r"tensors[\g<number>].size(…)",
        r"Sizes of tensors must match except in dimension \d+\. Expected size (?P<expected>\d+) but got size "
        r"(?P<got>\d+) for tensor number (?P<number>\d+)",
    ),
    _size(
        "stack",
        r"tensors[\g<number>].shape",
        r"expects each tensor to be equal size, but got (?P<expected>\[.*?\]) at entry 0 and (?P<got>\[.*?\]) at entry "
        r"(?P<number>\d+)",
    ),
    _size("features", "input.shape[1]", r"running_mean should contain (?P<got>\d+) elements not (?P<expected>\d+)"),
    _size(
        "features",
        "input.shape",
        r"expected input with shape (?P<expected>\[\*.*?\]), but got input of size(?P<got>\[.*?\])",
    ),
    _size(
        "features",
        "input.shape[-1]",
        r"input\.size\(-1\) must be equal to input_size\. Expected (?P<expected>\d+), got (?P<got>\d+)",
    ),
    _size(
        "product",
        "batch2.shape[:2]",
        r"first two dimensions of batch2 tensor to be: (?P<expected>\[.*?\]) but got: (?P<got>\[.*?\])",
    ),
    _size(
        "vectors",
        "other.shape",
        r"expected tensor (?P<expected>\[.*?\]) and src (?P<got>\[.*?\]) to have the same number of elements",
    ),
    _size(
        "mask",
        "mask.shape",
        r"shape of the mask (?P<got>\[.*?\]) at index \d+ does not match the shape of the indexed tensor "
        r"(?P<expected>\[.*?\])",
    ),
    _size("features", "query.shape[-1]", r"expecting embedding dimension of (?P<expected>\d+), but got (?P<got>\d+)"),
    (
        r"Expected hidden(?:\[\d\])? size \((?P<expected>[\d, ]+)\), got (?P<got>\[.*?\])",
        lambda match, _: fact(
            "problem-size", about="hidden", what="hidden.shape", expected=f"[{match['expected']}]", got=match["got"]
        ),
    ),
    _size(
        "grad",
        "grad.shape",
        r"assign a gradient of size '(?P<got>\[.*?\])' to a tensor of size '(?P<expected>\[.*?\])'",
    ),
    _size("product", "len(vec)", r"mat \(\d+x(?P<expected>\d+)\), vec \((?P<got>\d+)\)"),
)

_REFUSALS: Final = (
    _refused("view", r"view size is not compatible with input tensor's size and stride"),
    _refused("batch", r"Expected more than 1 value per channel when training.*"),
    _refused("forward", r"Module \[.*\] is missing the required \"forward\" function"),
    _refused("apply", r"Legacy autograd function with non-static forward method"),
    _refused(
        "indices",
        r"tensors used as indices must be long.*|.*Expected dtype int32/int64 for index|"
        r"Expected tensor for argument #1 'indices' .*?(?= \(while)|one_hot is only applicable to index tensor.*|"
        r"take\(\): Expected a long tensor for index.*",
    ),
    _refused("derivative", r"the derivative for '.*?' is not implemented"),
    _refused("inference", r"Inference tensors cannot be saved for backward"),
    _refused("copy", r"Only Tensors created explicitly by the user .* support the deepcopy protocol"),
    _refused("parameter", r"cannot assign '.*' as parameter '.*?'.*"),
    _refused("list", r"params argument given to the optimizer should be an iterable.*"),
    _refused(
        "kernel", r"Calculated padded input size .*actual input size|Given input size: .*Output size is too small"
    ),
    _refused("axis", r"Tensors must have same number of dimensions.*"),
    _refused("leaf", r"you can only change requires_grad flags of leaf variables"),
    _refused("seed", r"gradients can be either Tensors or None, but got .*|got \d+ tensors and \d+ gradients"),
    _refused("backward", r"You must implement either the backward or vjp method.*"),
    _refused("function", r"You must implement the forward function for custom autograd\.Function"),
    _refused("save", r"save_for_backward can only save variables, but argument .*"),
    _refused("ctx", r"'\w+Backward' object has no attribute '\w+'"),
    _refused("tuple", r"'tuple' object has no attribute '\w+'|can only concatenate tuple .*"),
    _refused("required", r"can't retain_grad on Tensor that has requires_grad=False|cannot register a hook on a .*"),
    _refused("out", r".*functions with out=\.\.\. arguments don't support automatic differentiation.*"),
    _refused("state", r"Error\(s\) in loading state_dict for [\s\S]*"),
    _refused("module", r"\S+ is not a Module subclass"),
    _refused("heads", r"embed_dim must be divisible by num_heads"),
    _refused("expand", r"The expanded size of the tensor.*"),
    _refused("einsum", r"einsum\(\): .*"),
    _refused("permute", r"number of dimensions in the tensor input does not match the length of .*"),
    _refused("dimension", r"Dimension out of range.*"),
    _refused("index", r"index -?\d+ is out of bounds for dimension \d+ with size \d+"),
    _refused("scalar", r"iteration over a 0-d tensor|invalid index of a 0-dim tensor"),
    _refused("dot", r"1D tensors expected, but got.*"),
    _refused("matrix", r"\w+ must be a (?:matrix|3D tensor)|t\(\) expects a tensor with <= 2 dimensions.*"),
    _refused("sequence", r"\w+\(\): argument 'tensors' \(position 1\) must be tuple of Tensors, not Tensor"),
    _refused("condition", r"where expected condition to be a boolean tensor.*"),
    _refused("singular", r".*(?:the input matrix is singular|is not positive-definite).*"),
    _refused(
        "mean",
        r".*Input dtype must be either a floating point or complex dtype.*|std and var only support floating point .*|"
        r"\"\w+\" not implemented for '(?:Long|Int|Short|Byte|Char|Bool)'|.*Expected a floating point or complex .*|"
        r"result type \w+ can't be cast to the desired output type \w+|multinomial only supports floating-point .*",
    ),
    _refused(
        "dtypes", r".*Expected self\.dtype to be equal to src\.dtype|mixed dtype .*|Expected query, key, and value to.*"
    ),
    _refused("write", r"expand\(\S*\{.*\}, size=\[\]\).*"),
    _refused("own-grad", r"assigned grad expected to be a Tensor or None but got grad of type .*"),
    _refused("no-grad", r"'\w+' object has no attribute 'grad'"),
    _refused("ragged", r"expected sequence of length \d+ at dim \d+ \(got \d+\)"),
    _refused(
        "tensor",
        r"\w+\(\): argument '\w+' \(position \d+\) must be Tensor, not (?:list|int|float|numpy\.\w+)|"
        r"expected Tensor as element \d+ in argument \d+, but got \w+",
    ),
    _refused(
        "keyword",
        r"\w+\(\) got an unexpected keyword argument 'requires?_\w+'|"
        r"\w+\(\) received an invalid combination of arguments - got \([^)]*requires?_grad=\w+[^)]*\)",
    ),
)

EXPLANATIONS: Final[tuple[tuple[str, Explain], ...]] = (
    (r"backward through the graph a second time", _freed),
    (
        r"modified by an inplace operation.*is at version (?P<now>\d+); expected version (?P<saved>\d+)",
        _changed_in_place,
    ),
    (
        r"Function (?P<function>\S+) returned an invalid gradient at index (?P<index>\d+) - got (?P<got>\[.*?\]) but "
        r"expected shape compatible with (?P<expected>\[.*?\])",
        _wrong_shape,
    ),
    (
        r"function (?P<function>\S+) returned an incorrect number of gradients \(expected (?P<expected>\d+), "
        r"got (?P<got>\d+)\)",
        _wrong_count,
    ),
    (r"function (?P<function>\S+) returned a gradient different than None at position (?P<index>\d+)", _not_none),
    (
        r"expected Variable or None \(got (?P<got>.*?)\)",
        lambda match, culprits: fact("problem-grad-no-tensor", function=culprits.function_name(""), got=match["got"]),
    ),
    (
        r"Function (?P<function>\S+) returned an invalid gradient at index (?P<index>\d+) - expected "
        r"(?P<what>device|type|layout) (?P<expected>\S+) but got (?P<got>\S+)",
        _wrong_kind,
    ),
    (r"returned nan values in its (?P<index>\d+)th output", _nan_found),
    (
        r"isFloatingType\(grad.scalar_type\(\)\) \|\| \(input_is_complex == grad_is_complex\)",
        lambda _, culprits: fact("problem-grad-complex", function=culprits.function_name("")),
    ),
    (r"grad can be implicitly created only for scalar outputs", fact("problem-not-scalar")),
    (
        r"element (?P<index>\d+) of tensors does not require grad",
        lambda match, culprits: culprits.lost or fact("problem-no-history", index=match["index"]),
    ),
    (
        r"Mismatch in shape: grad_output\[\d+\] has a shape of torch.Size\((?P<got>\[.*?\])\) and output\[\d+\] has a "
        r"shape of torch.Size\((?P<expected>\[.*?\])\)",
        lambda match, _: fact("problem-seed-shape", got=_shape(match["got"]), expected=_shape(match["expected"])),
    ),
    (
        r"a leaf Variable that requires grad (?:is being|has been) used in an in-place operation",
        fact("problem-leaf-in-place"),
    ),
    (_UNUSED, _unused_input),
    _refused("results", _SEVERAL),
    (_NO_BACKWARD, _no_backward),
    (r"hook '(?P<hook>.*)' has changed the (?P<what>size|type) of value", _hook_value),
    (
        r"(?:has returned an incorrect number of values|Backward hook returned an invalid number of grad_(?:in|out)put)"
        r"\D*(?P<got>\d+), but expected (?P<expected>\d+)",
        lambda match, _: fact("problem-hook-count", got=match["got"], expected=match["expected"]),
    ),
    (r"expected (?P<expected>Variable|tuple), but hook returned '(?P<got>.*?)'", _hook_kind),
    (r"One of the differentiated Tensors does not require grad", fact("problem-input-not-required")),
    (r"(?i)only Tensors of floating point (?:and complex )?dtype can require grad", fact("problem-whole-numbers")),
    (r"shapes cannot be multiplied \((?P<left>\d+x\d+) and (?P<right>\d+x\d+)\)", _matrix_shapes),
    (
        r"size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\) at non-singleton dimension "
        r"(?P<axis>\d+)",
        lambda match, _: fact("problem-broadcast", left=match["a"], right=match["b"], axis=match["axis"]),
    ),
    (r"Target (?P<target>-?\d+) is out of bounds", _no_such_class),
    (
        r"expected target dtype to be Long or Byte, but got (?P<got>\w+)",
        lambda match, _: fact("problem-target-class", dtype=match["got"]),
    ),
    (
        r"Found dtype (?P<got>\w+) but expected (?P<expected>\w+)",
        lambda match, _: fact("problem-target-dtype", dtype=match["got"], expected=match["expected"]),
    ),
    (r"^index out of range in self", fact("problem-no-such-row")),
    (r"can't optimize a non-leaf Tensor", fact("problem-optimizer-result")),
    (r"grad can be implicitly created only for real scalar outputs", fact("problem-complex-output")),
    (r"before Module\.__init__\(\) call", fact("problem-module-init")),
    (r"optimizer got an empty parameter list", fact("problem-no-parameters")),
    (
        r"(?:same dtype, but (?:got:?|found)|source and destination dtypes match, got|expected scalar type) "
        r"(?P<left>\w+)(?: int)?(?:,| and| !=| for the destination and| but found) (?P<right>\w+)",
        _two_dtypes,
    ),
    (r"RNN input dtype \((?P<left>\S+)\) does not match weight dtype \((?P<right>\S+)\)", _two_dtypes),
    (
        r"Torch not compiled with CUDA enabled|requires CUDA support|Tried to instantiate dummy base class|"
        r"Found no NVIDIA driver|"
        r"Cannot get CUDA generator|not linked with support for (?:mps|cuda|xpu) devices|"
        r"Could not run '.*' with arguments from the '(?:CUDA|MPS)' backend|device string: gpu",
        fact("problem-no-gpu"),
    ),
    (_NO_ALLOCATION, fact("problem-memory-tensor")),
    (r"is a view and is being modified inplace", fact("problem-views-in-place")),
    (r"Can't call numpy\(\) on Tensor that requires grad", fact("problem-needs-detach")),
    (r"multi-target not supported|target with class probabilities, got Long", fact("problem-target-columns")),
    (
        r"shape '(?P<shape>\[.*?\])' is invalid for input of size (?P<count>\d+)",
        lambda match, _: fact("problem-view-size", shape=match["shape"], count=match["count"]),
    ),
    (
        r"a Tensor with \d+ elements cannot be converted to Scalar|only one element tensors can be converted|"
        r"only integer tensors of a single element",
        fact("problem-several-numbers", about="number"),
    ),
    (r"Boolean value of Tensor with more than one value", fact("problem-several-numbers", about="truth")),
    *_SIZES,
    *_REFUSALS,
)
