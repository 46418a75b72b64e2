"""Errors of the program, said so that a student can act on them.

Each entry of `EXPLANATIONS` knows one way in which PyTorch complains. Its own words always come along:
what is said here explains them, it does not replace them.
"""

import difflib
import re
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, NamedTuple

from gradwalk.protocol.events import Problem, ProblemKind
from gradwalk.protocol.problems import problem
from gradwalk.tracer.culprits import Culprits
from gradwalk.tracer.frames import Place
from gradwalk.tracer.interruption import TimeLimitError
from gradwalk.tracer.originals import SNIPPET
from gradwalk.tracer.places import Places
from gradwalk.words.catalogue import tell

_WORDS_MAX: Final = 600
_TEXT_MAX: Final = 20_000
_UNUSED: Final = r"The differentiated Tensor at index (?P<index>\d+) appears to not have been used"
_NO_ALLOCATION: Final = r"DefaultCPUAllocator: (?:can't allocate|not enough) memory"


class Explained(NamedTuple):
    """What is said about one error."""

    title: str
    message: str
    hint: str | None = None
    kind: ProblemKind = "error"


Explain = Callable[["re.Match[str]", Culprits], Explained]


def explain_error(error: BaseException, culprits: Culprits) -> Problem:
    """The problem for an exception that the program raised, at the line where it came from."""
    text = _words_of(error)
    explained = _explain_by_type(error) or _explain_by_text(text, culprits)
    if explained is None:
        name = type(error).__name__
        explained = Explained(name, text.strip()[:_WORDS_MAX] or f"The program raised {name}.")
    elif text and _first_sentence(text) not in explained.message and isinstance(error, Exception):
        explained = explained._replace(message=f"{explained.message} PyTorch says: \u201c{_first_sentence(text)}\u201d")
    span = culprits.places.span(place_of(error.__traceback__)) or culprits.span
    return problem(explained.kind, explained.title, explained.message, span=span, hint=explained.hint)


def unused_input(error: BaseException) -> int | None:
    """Which input of a `torch.autograd.grad` the error says that nothing leads to."""
    match = re.match(_UNUSED, _words_of(error))
    return None if match is None else int(match.group("index"))


def internal_problem(error: BaseException) -> Problem:
    """The problem for a fault of our own, with where it is in our code."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].name}, line {frames[-1].lineno})" if frames else ""
    return problem(
        "internal",
        "This is a fault of gradwalk, not of the program",
        f"While recording, gradwalk itself failed: {type(error).__name__}: {_words_of(error)[:_WORDS_MAX]}{where}. "
        "The program ran on; what is shown before this is right.",
        hint="Please report it together with the program.",
    )


def intrusion_problem(error: BaseException, places: Places) -> Problem:
    """The problem for code of the program that failed when the recorder read something, such as a tensor's property."""
    name = type(error).__name__
    return problem(
        "error",
        f"{name} in code that ran while gradwalk was recording",
        "gradwalk reads the attributes of each tensor to record it; that ran this line of the program, which raised "
        f"\u201c{name}: {_words_of(error)[:_WORDS_MAX]}\u201d. The program ran on; what is shown before this is right.",
        span=places.span(place_of(error.__traceback__)),
        hint="Give properties that you put on tensors another name than torch's own, or let them not raise.",
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed: Python's own, or that of a tensor."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and re.search(_NO_ALLOCATION, _words_of(error)) is not None
    )


def _words_of(error: BaseException) -> str:
    """The error's text; a program's own class may fail to give one, which Python itself shows like this."""
    try:
        # Every pattern is looked for in it: a text of megabytes would take longer than the program may.
        return str(error)[:_TEXT_MAX]
    except Exception:  # noqa: BLE001 (it is the program's code)
        return "<exception str() failed>"


def place_of(trace: TracebackType | None) -> Place | None:
    """The innermost instruction of the program in a traceback."""
    place: Place | None = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SNIPPET:
            place = (trace.tb_frame.f_code, trace.tb_lasti)
        trace = trace.tb_next
    return place


def _first_sentence(text: str) -> str:
    line = text.strip().partition("\n")[0]
    sentence, stop, _ = line.partition(". ")
    return (sentence + stop.strip())[:_WORDS_MAX]


def _explain_by_type(error: BaseException) -> Explained | None:
    for types, explained in _BY_TYPE:
        if isinstance(error, types):
            return explained(error)
    return None


def _explain_by_text(text: str, culprits: Culprits) -> Explained | None:
    for pattern, explain in EXPLANATIONS:
        match = re.search(pattern, text)
        if match is not None:
            return explain(match, culprits)
    return None


def _exited(error: Any) -> Explained:
    code = "" if error.code is None else f" with {repr(error.code)[:_WORDS_MAX]}"
    return Explained(
        "The program ended itself",
        f"It called sys.exit or exit{code}. What ran before is shown; a backward pass that would have followed is not.",
        "Remove the call to exit.",
    )


def _name_unknown(error: Any) -> Explained:
    return Explained("Unknown name", f"{error}.".replace("..", "."))


def _attribute_unknown(error: Any) -> Explained:
    near = difflib.get_close_matches(str(error.name), dir(error.obj), n=1, cutoff=0.7) if error.name else []
    return Explained("AttributeError", _words_of(error)[:_WORDS_MAX], f"Did you mean `{near[0]}`?" if near else None)


_BY_TYPE: Final[tuple[tuple[tuple[type[BaseException], ...], Callable[[Any], Explained]], ...]] = (
    ((SystemExit,), _exited),
    (
        (TimeLimitError,),
        lambda _: Explained(
            "Out of time",
            "The program ran longer than it may. What was recorded until then is shown.",
            "Use fewer iterations or smaller tensors, or see whether a loop waits for what never happens.",
            "timeout",
        ),
    ),
    (
        (KeyboardInterrupt,),
        lambda _: Explained("Interrupted", "The program was interrupted. What was recorded until then is shown."),
    ),
    (
        (RecursionError,),
        lambda _: Explained(
            "A function calls itself without end",
            "Python gave up after about a thousand nested calls.",
            "Check the condition that should end the recursion, or use a loop.",
        ),
    ),
    (
        (MemoryError,),
        lambda _: Explained(
            "Out of memory",
            "The program asked for more memory than it may have.",
            "Use smaller tensors or shorter lists.",
            "memory",
        ),
    ),
    ((NameError,), _name_unknown),
    ((AttributeError,), _attribute_unknown),
)


def _freed(_match: "re.Match[str]", culprits: Culprits) -> Explained:
    where = culprits.node_words()
    saved = culprits.saved_names()
    what = f"{where} needs {saved} again, which" if saved else f"{where} needs its saved tensors again, which"
    earlier = culprits.earlier_pass_words()
    return Explained(
        "Backward a second time through the same graph",
        f"{what} an earlier backward freed{earlier}.",
        "Pass retain_graph=True to the first backward, or compute the output anew before the second one.",
    )


def _changed_in_place(match: "re.Match[str]", culprits: Culprits) -> Explained:
    now, saved = match.group("now"), match.group("saved")
    changed = culprits.changed_tensor(int(saved), int(now))
    node = culprits.node_words()
    return Explained(
        "A saved tensor was changed in place",
        f"{node} saved {changed.what} at version {saved}{changed.saved_at}; {changed.changed_at} "
        f"and it is now at version {now}, so the gradient would be wrong.",
        "Write the changed value to a new tensor (y = y + 1 instead of y += 1), or change it before it is used.",
    )


def _wrong_shape(match: "re.Match[str]", culprits: Culprits) -> Explained:
    function, index = match.group("function"), int(match.group("index"))
    name = culprits.operand_name(index)
    got, expected = match.group("got"), match.group("expected")
    return Explained(
        f"{culprits.function_name(function)}.backward returned a gradient of the wrong shape",
        f"The gradient for argument {name} (number {index}) has shape {got}; it should be {expected}, the shape of "
        f"{name} itself: backward returns v times J, one number per entry of the argument, not the Jacobian.",
        f"Multiply grad_output by the local derivative and sum over the output's axes, so that the result has shape "
        f"{expected}.",
    )


def _wrong_count(match: "re.Match[str]", culprits: Culprits) -> Explained:
    expected, got = int(match.group("expected")), int(match.group("got"))
    names = culprits.forward_arguments()
    listed = f" ({', '.join(names)})" if names else ""
    return Explained(
        f"{culprits.function_name(match.group('function'))}.backward returned the wrong number of gradients",
        f"It returned {got}; it should return {expected}, one for each argument of forward{listed}, because the engine "
        "pairs them by position.",
        "Return None for an argument that needs no gradient, such as a number or a flag.",
    )


def _not_none(match: "re.Match[str]", culprits: Culprits) -> Explained:
    index = int(match.group("index"))
    names = culprits.forward_arguments()
    name = names[index - 1] if 0 < index <= len(names) else f"number {index}"
    return Explained(
        f"{culprits.function_name(match.group('function'))}.backward returned a gradient for what is no tensor",
        f"Argument {name} of forward is not a tensor, so nothing can be done with a gradient for it.",
        f"Return None in the place of {name}.",
    )


def _not_a_tensor(match: "re.Match[str]", culprits: Culprits) -> Explained:
    return Explained(
        f"{culprits.function_name('')}.backward returned something that is no tensor",
        f"It returned a {match.group('got')}; the engine takes a tensor for each argument of forward, or None.",
        "Return tensors, for example by multiplying grad_output, which is one.",
    )


def _wrong_kind(match: "re.Match[str]", culprits: Culprits) -> Explained:
    what, got, expected = match.group("what"), match.group("got"), match.group("expected")
    name = culprits.operand_name(int(match.group("index")))
    return Explained(
        f"{culprits.function_name(match.group('function'))}.backward returned a gradient of the wrong {what}",
        f"The gradient for argument {name} has {what} {got}; it should be {expected}, that of {name} itself: it is "
        "added to its other gradients.",
        f"Return a gradient of {what} {expected}.",
    )


def _nan_found(match: "re.Match[str]", culprits: Culprits) -> Explained:
    index = int(match.group("index"))
    return Explained(
        "A node returned NaN",
        f"{culprits.node_words()} returned NaN for {culprits.operand_of_node(index)}, and detect_anomaly ends the pass "
        "there: its slope is no number at this point.",
        "Look at its operand: a square root or logarithm of a negative number, or 0 times infinity, does that.",
    )


def _complex_mismatch(_match: "re.Match[str]", culprits: Culprits) -> Explained:
    return Explained(
        f"{culprits.function_name('')}.backward returned a gradient of the wrong dtype",
        "The gradient is complex but the argument is real (or it holds whole numbers), and there is no way to turn one "
        "into the other without losing something.",
        "Return a gradient of the argument's own dtype, for example with .real.",
    )


def _not_scalar(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "backward() needs to know v for this output",
        "The output has more than one entry, so there is no single number whose gradient could be meant: backward "
        "computes v times the Jacobian, and v (grad_output) must have the output's shape.",
        "Reduce it to a scalar with .sum() or .mean(), or pass gradient=torch.ones_like(y).",
    )


def _no_grad_fn(match: "re.Match[str]", culprits: Culprits) -> Explained:
    if culprits.lost is not None:
        return Explained("Nothing here is differentiable", *culprits.lost, "not_differentiable")
    return Explained(
        "Nothing here is differentiable",
        f"Tensor number {match.group('index')} given to backward has no history: no tensor that requires grad went "
        "into it, or it was cut off by detach, no_grad, .data, .item or a conversion to whole numbers.",
        "Create an input with requires_grad=True and keep every step from it to the output in torch.",
        "not_differentiable",
    )


def _seed_shape(match: "re.Match[str]", _culprits: Culprits) -> Explained:
    got, expected = match.group("got"), match.group("expected")
    return Explained(
        "grad_output has the wrong shape",
        f"The external gradient v has shape {got}, the output has shape {expected}. "
        "v holds one number per entry of the output, so the shapes must be equal.",
        f"Give v the shape {expected}.",
    )


def _leaf_in_place(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "A leaf that requires grad cannot be changed in place",
        "Its old value may be needed for the backward pass, and there is no node that could record the change.",
        "Change it where nothing is recorded: `with torch.no_grad():` around `w -= lr * w.grad`. `w = w - lr * w.grad` "
        "is no way out: its result is no leaf, so the next backward leaves no `.grad` there.",
    )


def _unused_input(match: "re.Match[str]", culprits: Culprits) -> Explained:
    unused, which = culprits.unused, f"Input number {match.group('index')} of torch.autograd.grad"
    named = which if unused is None or unused.name is None else f"`{unused.name}` (input number {match.group('index')})"
    detail = f" {tell(unused.detail)}" if unused is not None and unused.detail is not None else ""
    return Explained(
        "The output does not depend on one of the inputs",
        f"{named} is not on any path of the graph.{detail}",
        "Pass allow_unused=True to get None for it, or check where it drops out of the computation.",
    )


def _input_needs_grad(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "An input of torch.autograd.grad does not require grad",
        "Only tensors that require grad, and what is computed from them, are in the graph.",
        "Create it with requires_grad=True before it is used.",
        "not_differentiable",
    )


def _whole_numbers(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "Whole numbers have no gradient",
        "Only floating-point and complex tensors can require grad: a derivative needs values that can "
        "change by a little.",
        "Write 1.0 instead of 1, or pass dtype=torch.float32.",
    )


def _no_accelerator(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "There is no GPU here",
        "The program asks for a GPU; here PyTorch runs on the CPU, where the graph and its gradients are the same.",
        'Leave out .cuda() and .to("cuda"), or choose: device = "cuda" if torch.cuda.is_available() else "cpu".',
    )


def _matrix_shapes(match: "re.Match[str]", _culprits: Culprits) -> Explained:
    left, right = match.group("left"), match.group("right")
    inner = f"{left.partition('x')[2]} and {right.partition('x')[0]}"
    return Explained(
        "These matrices cannot be multiplied",
        f"The shapes are {left} and {right}: the inner sizes ({inner}) must be equal.",
        "Transpose one of them (.T), or check the sizes where they are made.",
    )


def _broadcast(match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "These shapes do not fit together",
        f"Sizes {match.group('a')} and {match.group('b')} meet in axis {match.group('axis')}; "
        "they must be equal, or one of them must be 1.",
        "Print the shapes, and use unsqueeze or reshape where an axis is missing.",
    )


def _no_such_class(match: "re.Match[str]", _culprits: Culprits) -> Explained:
    target = match.group("target")
    return Explained(
        "A target is no class of the scores",
        f"Target {target} asks for the score of class {target}. Classes count from 0: scores with C columns have "
        "classes 0 to C - 1.",
        f"Count the targets from 0, or give the scores at least {int(target) + 1} columns."
        if int(target) >= 0
        else "Targets are 0 or more; name another one with ignore_index to leave entries out.",
    )


def _no_such_row(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "An index is outside of the table",
        "An embedding has num_embeddings rows, with indices from 0 to num_embeddings - 1.",
        "Give the embedding a num_embeddings larger than the largest index, or look where that index comes from.",
    )


def _allocation(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "Out of memory",
        "The program asked for a tensor that is larger than the memory it may have.",
        "Use smaller shapes.",
        "memory",
    )


def _views_in_place(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "One of several views cannot be changed in place",
        "The operation gave several views of one tensor at once; the engine cannot record a write into one of them.",
        "Write the result to a new tensor instead.",
    )


def _needs_detach(_match: "re.Match[str]", _culprits: Culprits) -> Explained:
    return Explained(
        "A tensor in the graph cannot become a numpy array",
        "numpy would not record what is done with the numbers, so the gradient would silently be lost.",
        "Use .detach().numpy() if no gradient is wanted from here on.",
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
    (r"expected Variable or None \(got (?P<got>.*?)\)", _not_a_tensor),
    (
        r"Function (?P<function>\S+) returned an invalid gradient at index (?P<index>\d+) - expected "
        r"(?P<what>device|type|layout) (?P<expected>\S+) but got (?P<got>\S+)",
        _wrong_kind,
    ),
    (r"returned nan values in its (?P<index>\d+)th output", _nan_found),
    (r"isFloatingType\(grad.scalar_type\(\)\) \|\| \(input_is_complex == grad_is_complex\)", _complex_mismatch),
    (r"grad can be implicitly created only for scalar outputs", _not_scalar),
    (r"element (?P<index>\d+) of tensors does not require grad", _no_grad_fn),
    (
        r"Mismatch in shape: grad_output\[\d+\] has a shape of torch.Size\((?P<got>\[.*?\])\) and output\[\d+\] has a "
        r"shape of torch.Size\((?P<expected>\[.*?\])\)",
        _seed_shape,
    ),
    (r"a leaf Variable that requires grad is being used in an in-place operation", _leaf_in_place),
    (_UNUSED, _unused_input),
    (r"One of the differentiated Tensors does not require grad", _input_needs_grad),
    (r"Only Tensors of floating point and complex dtype can require gradients", _whole_numbers),
    (r"shapes cannot be multiplied \((?P<left>\d+x\d+) and (?P<right>\d+x\d+)\)", _matrix_shapes),
    (
        r"size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\) at non-singleton dimension "
        r"(?P<axis>\d+)",
        _broadcast,
    ),
    (r"Target (?P<target>-?\d+) is out of bounds", _no_such_class),
    (r"^index out of range in self", _no_such_row),
    (
        r"Torch not compiled with CUDA enabled|Found no NVIDIA driver|"
        r"not linked with support for (?:mps|cuda|xpu) devices|"
        r"Could not run '.*' with arguments from the '(?:CUDA|MPS)' backend",
        _no_accelerator,
    ),
    (_NO_ALLOCATION, _allocation),
    (r"is a view and is being modified inplace", _views_in_place),
    (r"Can't call numpy\(\) on Tensor that requires grad", _needs_detach),
)
