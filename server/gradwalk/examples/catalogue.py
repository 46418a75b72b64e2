"""The list of examples: one entry here and one text file in `programs/`."""

from importlib.resources import files
from typing import Any

from gradwalk.examples.example import Example

_PROGRAMS = files("gradwalk.examples") / "programs"


def program_text(slug: str) -> str:
    """The program of one example.

    Raises:
        FileNotFoundError: there is no text file for this slug.
    """
    return (_PROGRAMS / f"{slug.replace('-', '_')}.py").read_text(encoding="utf-8")


def _example(
    slug: str,
    title: str,
    *,
    question: str,
    learning_goal: str,
    start: str = "1.1",
    seed_files: tuple[str, ...] = (),
    **options: Any,
) -> Example:
    return Example(
        slug=slug,
        title=title,
        question=question,
        learning_goal=learning_goal,
        source=program_text(slug),
        options=options,
        start=start,
        seed_files=seed_files,
    )


EXAMPLES: list[Example] = [
    # What v, J and v times J are.
    _example(
        "map",
        "A map from R² to R³: v times J",
        question=(
            "My f goes from R² to R³. Its derivative is a 3 × 2 matrix, so why does backward take and return vectors?"
        ),
        learning_goal=(
            "backward receives v, one number per output (here 3), and returns v times J, one number per input "
            "(here 2). J is [[4, 0], [3, 2], [0, 6]]; v = [0, 1, 0] picks its middle row, [3, 2]. Edit v and "
            "watch."
        ),
        start="1.3",
        seed_files=("000", "002"),
        grad_output=[0.0, 1.0, 0.0],
    ),
    _example(
        "rows-of-j",
        "One-hot v: the rows of J, one by one",
        question="Where is the Jacobian matrix that I would compute by hand?",
        learning_goal=(
            "Each backward gives one row of J: a one-hot v asks how a single output depends on every input. The "
            "three passes print [4, 0], [3, 2] and [0, 6]."
        ),
        seed_files=("000", "002"),
    ),
    _example(
        "whole-jacobian",
        "m rows of v at once: the whole J",
        question="I expected backward to take a tensor A of shape [m, 3] and return A times J of shape [m, 2]. Can it?",
        learning_goal=(
            "Yes: with is_grads_batched=True a stack of m rows of v travels together. The 3 × 3 identity goes in "
            "and J = [[4, 0], [3, 2], [0, 6]] comes out."
        ),
        seed_files=("000",),
    ),
    _example(
        "ones-as-v",
        "backward(ones) is the gradient of the sum",
        question="Why does backward() take a tensor as an argument, and why is it always ones?",
        learning_goal=(
            "A vector output needs a v. Ones give every output the same weight, which is the gradient of the sum:"
            " both ways print [2, 4, 6]."
        ),
        seed_files=("001", "000"),
    ),
    _example(
        "weights-as-v",
        "[0.2, 0.8] as v: how much each loss matters",
        question="What if I submit numbers other than ones as the external gradient?",
        learning_goal=(
            "v weighs the outputs before anything is propagated: 0.2 times row [2, 1] plus 0.8 times row [1, 3] "
            "is [1.2, 2.6], in a single backward."
        ),
        start="1.3",
        seed_files=("001",),
    ),
    _example(
        "doubling-loop",
        "The doubling loop of the autograd tutorial",
        question="x*2 in a while loop, then y.backward(v): where do 102.4, 1024 and 0.1024 come from?",
        learning_goal=(
            "Autograd records the ten doublings that ran. Each multiplies v by 2, and 2 to the 10th is 1024: v = "
            "[0.1, 1, 0.0001] becomes [102.4, 1024, 0.1024]."
        ),
        seed_files=("001",),
    ),
    _example(
        "chain-of-two",
        "F2(F1(x)): what comes out is the next v",
        question="For z = F2(F1(x)), what is multiplied with what, and in which order?",
        learning_goal=(
            "v = [1, 1] meets the Jacobian of F2 first: [6, 14]. That vector, never a matrix product of two "
            "Jacobians, is the v for F1: [48, 68]."
        ),
        start="2.3",
        seed_files=("001", "000"),
    ),
    _example(
        "why-grad-output",
        "Why multiply by grad_output?",
        question="If backward is the gradient formula, df/dw = x, why is it multiplied by grad_output?",
        learning_goal=(
            "df/dw = x = 2 is only the local part. The loss changes 14 times as fast as f, so w.grad is 14 · 2 = "
            "28: grad_output carries everything that comes after f."
        ),
        start="4.3",
        seed_files=("003", "000"),
    ),
    # Functions of one's own.
    _example(
        "exp-function",
        "exp as a custom Function",
        question="What does backward actually compute, when e^x is its own derivative?",
        learning_goal=(
            "The Jacobian of an elementwise function is diagonal, so v times J is an elementwise product with "
            "e^x. The matrix is never built; saving the result once is enough."
        ),
        start="1.3",
        seed_files=("002",),
    ),
    _example(
        "wrong-shape",
        "backward returns a matrix: an error",
        question=(
            "Function returned an invalid gradient at index 0 - got [2, 3] but expected shape compatible with [2]. Why?"
        ),
        learning_goal=(
            "backward must return v times J, in the shape of the input. The Jacobian, turned on its side, has "
            "shape [2, 3] and p has shape [2]: multiply by v and the 3 goes away."
        ),
        seed_files=("002",),
    ),
    _example(
        "returned-jacobian",
        "backward returns J itself: no error, wrong numbers",
        question="My backward returns the full Jacobian and PyTorch does not complain. Is that fine?",
        learning_goal=(
            "No. A [3, 3] matrix can be summed down to [3], and the engine does so without a word: [1, e, e²], as"
            " if v were ones. With v = [1, 10, 100] the last entry should be 738.9, not 7.39."
        ),
        start="1.3",
        seed_files=("002",),
    ),
    _example(
        "batch",
        "A batch of inputs",
        question="What if I push a batch through my function? I would expect a gradient of shape b × k × n.",
        learning_goal=(
            "Rows do not mix: each row has a v and a J of its own, [3] and [3, 2], and gets its v J of shape [2]."
            " The mean over the batch shows up as 1/3 in every v."
        ),
        start="3.3",
        seed_files=("002",),
    ),
    _example(
        "linear-function",
        "LinearFunction with an optional bias",
        question=(
            "In LinearFunction of the extending tutorial, what do grad_weight and needs_input_grad do, and why "
            "return None?"
        ),
        learning_goal=(
            "One gradient per input of forward, in the same order, and None where nobody asked: input is data, "
            "and the second layer has no bias."
        ),
        start="2.3",
        seed_files=("003",),
    ),
    _example(
        "gradcheck",
        "gradcheck on a wrong backward",
        question="How do I test an autograd formula that I wrote myself?",
        learning_goal=(
            "A wrong backward runs without complaint: it says [2, 8] where finite differences say [3, 12]. "
            "gradcheck compares the two and answers False."
        ),
        start="2.3",
        seed_files=("004",),
    ),
    _example(
        "composite",
        "A composite opened up: cross_entropy",
        question="What is a composite function, and where is its backward?",
        learning_goal=(
            "cross_entropy has no node of its own: autograd tracks log_softmax and nll_loss inside it. Their two "
            "vjps together give softmax minus one-hot."
        ),
        start="2.3",
        seed_files=("004",),
    ),
    _example(
        "none-zeros-undefined",
        "None, zeros and undefined",
        question=(
            "A tensor full of zeros, None and an undefined tensor are said to mean the same. What is the difference?"
        ),
        learning_goal=(
            "They act as zero in sums but tell different stories: c has a path and gets 0; b's output was never "
            "used, backward sees None and returns None; d has no path at all."
        ),
        start="4.4",
        seed_files=("004",),
    ),
    # How the engine walks.
    _example(
        "sin-expression",
        "sin(x*y) + x, with sliders",
        question="Can I just type a formula and drag its inputs?",
        learning_goal=(
            "x is used twice, so its gradient is a sum of two contributions: y · cos(x·y) along one path and 1 "
            "along the other."
        ),
        inputs={"x": 1.0, "y": 2.0},
    ),
    _example(
        "used-twice",
        "A value used twice: contributions add up",
        question="What happens when a tensor feeds two operations?",
        learning_goal=(
            "The engine waits until both uses have reported, adds 10 and 6 to 16, and only then steps into a = x "
            "* y: x.grad is 16 · 3 = 48, y.grad is 16 · 2 = 32."
        ),
        start="3.1",
    ),
    _example(
        "x-times-x",
        "x * x has two edges",
        question="Where does the 2 in the derivative of x² come from?",
        learning_goal=(
            "Each operand of x * x sends 3 back along its own edge; the leaf adds them to 6. The 2 is a sum of two."
        ),
        start="2.1",
    ),
    _example(
        "broadcast-bias",
        "Broadcasting forward, summing backward",
        question="Why is the gradient of a bias a sum over the batch?",
        learning_goal="Using one bias for every row is using it twice; the two rows of v add up to [3, 30, 300].",
        start="1.3",
        seed_files=("003",),
    ),
    _example(
        "gradient-accumulation",
        ".grad accumulates",
        question="Why do I have to zero the gradients, and how do I train with half the batch at a time?",
        learning_goal=(
            "backward adds to .grad: after two halves it holds 2.5 + 12.5 = 15, exactly the gradient of the whole"
            " batch."
        ),
    ),
    _example(
        "double-backward",
        "The gradient of a gradient",
        question="How can I differentiate a derivative?",
        learning_goal=(
            "With create_graph=True the first pass leaves a graph of its own: the slope 3x² = 27 can be walked "
            "back again, to 6x = 18."
        ),
        start="1.3",
    ),
    _example(
        "detach",
        "detach cuts the path",
        question="My target is computed from x. Why does no gradient come through it?",
        learning_goal=(
            "(3x - target)² with a detached target is differentiated through 3x alone: 2 · (6 - 4) · 3 = 12. With"
            " the path through x² it would be 2 · 2 · (3 - 4) = -4."
        ),
        start="3.3",
    ),
    _example(
        "backward-twice",
        "Backward a second time",
        question="Trying to backward through the graph a second time: what was freed?",
        learning_goal=(
            "Stepping through a node frees what it saved. The first pass leaves x.grad = 4; the second finds the "
            "saved x gone. retain_graph=True keeps it, and .grad would become 8."
        ),
    ),
    _example(
        "in-place",
        "In-place changes and version counters",
        question=(
            "One of the variables needed for gradient computation has been modified by an in-place operation: "
            "which, and when?"
        ),
        learning_goal=(
            "exp saves its result at version 0; add_ moves the counter to 1. Backward compares the two and "
            "refuses to compute a wrong gradient."
        ),
    ),
    # The same in the large.
    _example(
        "vanishing",
        "Vanishing gradients in a deep sigmoid chain",
        question="Why do the first layers of a deep sigmoid network not learn?",
        learning_goal=(
            "Every sigmoid multiplies by at most 1/4. After ten of them 3.9 · 10⁻⁷ is left of a gradient of 1."
        ),
        start="1.3",
    ),
    _example(
        "mlp-step",
        "One training step of a small network",
        question="What happens between loss.backward() and optimizer.step()?",
        learning_goal=(
            "One v = 1 at the loss becomes a gradient for each of the 13 parameters; one small step against them "
            "takes the loss from 1.59 to 1.05."
        ),
    ),
    _example(
        "attention",
        "Attention, backwards",
        question="How do gradients get through softmax(QKᵀ)V?",
        learning_goal=(
            "Every matrix product sends back two matrix products. The softmax in between moves weight from token "
            "to token: each row that it returns sums to zero."
        ),
        start="3.3",
    ),
]
