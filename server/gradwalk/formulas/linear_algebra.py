"""Products of matrices and vectors, inverses and solutions, determinants, factorisations, distances."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math

from gradwalk.formulas.entry import BROADCAST, Entry, Formula, Given, Reason, Vjp, why, zero
from gradwalk.formulas.expression import (
    Expression,
    Named,
    Scalar,
    Symbol,
    adjoint,
    apply,
    conj,
    number,
    reshape,
    times,
    total,
    transpose,
    where,
    zeros,
)
from gradwalk.formulas.placing_operations import Place

_SHAPES = why("case-mm")
_ADDED = why("why-addmm", "self")
_OUTER = why("why-matrix-entry", "mat", "vec")
_THROUGH = why("why-matrix-columns", "mat", "vec")
_BATCH_ADDED = why("why-addbmm-batch1")
_BACK_SOLVED = why("why-linalg-solve-ex-b", "B")
_AWAY = why("why-cdist-x1")


def _scaled(factor: Scalar, value: Expression) -> Expression:
    return value if factor == 1 else factor * value


def _sum(n: Given, product: Expression) -> Expression:
    """What addmm and its kin compute."""
    return _scaled(n.beta, n.operand("self")) + _scaled(n.alpha, product)


def _outer(a: Expression, b: Expression) -> Expression:
    return apply("outer", a, conj(b))


def _inverse_adjoint(matrix: Expression) -> Expression:
    return apply("inverse_adjoint" if matrix.is_complex else "inverse_transpose", matrix)


def _batched_product(n: Given) -> tuple[Expression, Expression, Expression]:
    """v and both operands of a product with a vector, so that they meet element by element."""
    v, x, y = n.v, n.self, n.other
    if y.rank == 1:
        return reshape(v, (*v.shape, 1)), x, y
    return reshape(v, (*v.shape[:-1], 1, v.shape[-1])), reshape(x, (*x.shape, 1)), y


def _matmul_self(n: Given) -> Expression:
    if n.other.rank > 1 and (n.self.rank > 1 or n.other.rank == 2):
        return n.v @ adjoint(n.other)
    v, _, y = _batched_product(n)
    rank = n.other.rank
    if rank < 2:
        return v * conj(y)
    # Every entry of a vector on the left meets a whole row of each matrix.
    return total(v * conj(y), [dim for dim in range(rank) if dim != rank - 2])


def _matmul_other(n: Given) -> Expression:
    if n.self.rank > 1 and n.other.rank > 1:
        return adjoint(n.self) @ n.v
    if n.self.rank == 1 and n.other.rank == 2:
        return apply("outer", conj(n.self), n.v)
    v, x, _ = _batched_product(n)
    return v * conj(x)


def _linear_weight(n: Given) -> Expression:
    if n.v.rank == 1:
        return _outer(n.v, n.input)
    return transpose(n.v) @ conj(n.input)


def _linear(n: Given) -> Expression:
    product = n.operand("input") @ transpose(n.operand("weight"))
    return product + n.operand("bias") if "bias" in n.kinds() else product


def _slogdet(n: Given) -> Expression:
    sign, logabsdet = n.seeds
    turning = None if sign is None or not n.A.is_complex else number(1j) * apply("imag", conj(sign) * n.sign)
    if logabsdet is None:
        return zero(n) if turning is None else _matrix_factor(-turning, n) * _inverse_adjoint(n.A)
    factor = logabsdet if turning is None else logabsdet - turning
    return _matrix_factor(factor, n) * _inverse_adjoint(n.A)


def _matrix_factor(factor: Expression, n: Given) -> Expression:
    """One number for each matrix of a batch."""
    batch = n.A.shape[:-2]
    return reshape(factor, (*batch, 1, 1)) if batch else factor


def _cholesky(n: Given) -> Expression:
    inside = Named("P", n.L @ adjoint(n.v) if n.upper else adjoint(n.L) @ n.v)
    mirrored = apply("tril", inside) + adjoint(apply("tril", inside, diagonal=-1))
    if n.upper:
        return number(1) / 2 * (apply("inverse", n.L) @ mirrored @ _inverse_adjoint(n.L))
    return number(1) / 2 * (_inverse_adjoint(n.L) @ mirrored @ apply("inverse", n.L))


def _solves_vectors(n: Given) -> bool:
    result, matrix = n.result, n.A
    return bool(result.rank == 1 or (matrix.rank - 1 == result.rank and result.shape == matrix.shape[:-1]))


def _solve(n: Given) -> Expression:
    inverse = apply("inverse", n.operand("A"))
    right = n.operand("B")
    if right.rank == 1:
        return right @ apply("inverse_transpose", n.operand("A"))
    if _solves_vectors(n):
        return inverse @ _column(right)
    return inverse @ right if n.left else right @ inverse


def _column(vectors: Symbol) -> Expression:
    """Vectors of a batch as matrices of one column."""
    return reshape(vectors, (*vectors.shape, 1))


def _solve_right_side(n: Given) -> Expression:
    if n.v.rank == 1:
        return n.v @ conj(apply("inverse", n.A))
    inverse = _inverse_adjoint(n.A)
    if _solves_vectors(n):
        return inverse @ _column(n.v)
    return inverse @ n.v if n.left else n.v @ inverse


def _solve_matrix(n: Given) -> Expression:
    back = _solve_right_side(n)
    if _solves_vectors(n):
        return -_outer(back, n.result) if n.result.rank == 1 else -(back @ adjoint(_column(n.result)))
    return -(back @ adjoint(n.result)) if n.left else -(adjoint(n.result) @ back)


def _solved_triangular(n: Given, matrix: Expression, right: Expression, upper: bool) -> Expression:
    options = {"upper": upper} | ({} if n.left else {"left": False})
    return apply("solve_triangular", matrix, right, **options, **({"unitriangular": True} if n.unitriangular else {}))


def _triangular_right_side(n: Given) -> Expression:
    return _solved_triangular(n, adjoint(n.self), n.v, not n.upper)


def _triangular_matrix(n: Given) -> Expression:
    back = _triangular_right_side(n)
    grad = back @ adjoint(n.result) if n.left else adjoint(n.result) @ back
    off_diagonal = {"diagonal": 1 if n.upper else -1} if n.unitriangular else {}
    return -apply("triu" if n.upper else "tril", grad, **off_diagonal)


def _eigh(n: Given) -> Expression:
    vectors, values = n.eigenvectors, n.eigenvalues
    for_values, for_vectors = n.seeds
    batch, size = values.shape[:-1], values.shape[-1]
    as_row = (*batch, 1, size)
    if for_vectors is None:
        return (vectors * reshape(n.v, as_row)) @ adjoint(vectors)
    gaps = Named("E", reshape(values, as_row) - reshape(values, (*batch, size, 1)) + apply("eye", n=size))
    turning = Named("S", adjoint(vectors) @ for_vectors)
    inner = (turning - adjoint(turning)) / (2 * gaps)
    if for_values is not None:
        inner = apply("diag_embed", for_values) + inner
    return vectors @ inner @ adjoint(vectors)


def _matrix_exp(n: Given) -> Expression:
    """The upper right block of exp [[A^H, v], [0, A^H]] (Najfeld and Havel, 1995)."""
    size = n.self.shape[-1]
    block = Named("M", apply("blocks", adjoint(n.self), n.v, zeros(n.self.shape), adjoint(n.self)))
    return apply(
        "part",
        apply("matrix_exp", block),
        at=Place((*[slice(None)] * (n.self.rank - 2), slice(size), slice(size, None))),
    )


def _trace(n: Given) -> Expression:
    rows, columns = n.shape
    return n.v * apply("eye", n=rows, **({} if rows == columns else {"m": columns}))


def _triangle(operation: str) -> Entry:
    def kept(value: Expression, n: Given) -> Expression:
        return apply(operation, value, **({"diagonal": n.diagonal} if n.diagonal else {}))

    return Entry(
        operation,
        (f"{operation.capitalize()}Backward0",),
        lambda n: kept(n.operand("self"), n),
        (Vjp("self", lambda n: kept(n.v, n), why("why-tril")),),
    )


def _sign(value: Expression) -> Expression:
    return apply("sgn" if value.is_complex else "sign", value)


def _growth(v: Expression, difference: Expression, distance: Expression, p: float) -> Expression:
    """v times the derivative of the p-norm of a difference by each of its entries; 0 where an entry is 0."""
    if p == 0:
        return number(0)
    sign = _sign(difference)
    if p == 1:
        return v * sign
    if math.isinf(p):
        return v * sign * apply("abs", difference).equals(distance)
    slope = difference / distance if p == 2 else sign * (apply("abs", difference) / distance) ** (p - 1)
    return where(difference.equals(0), 0, v * slope)


def _cdist(first: bool) -> Formula:
    """For the first list of points or the second."""

    def formula(n: Given) -> Expression:
        distance = n.result
        batch, (rows, columns) = distance.shape[:-2], distance.shape[-2:]
        features = n.x1.shape[-1]
        a = reshape(n.x1, (*n.x1.shape[:-2], rows, 1, features))
        b = reshape(n.x2, (*n.x2.shape[:-2], 1, columns, features))
        difference = Named("D", a - b if first else b - a)
        one_per_pair = (*batch, rows, columns, 1)
        grown = _growth(reshape(n.v, one_per_pair), difference, reshape(distance, one_per_pair), n.p)
        return total(grown, (len(batch) + int(first),)) if n.p else grown

    return formula


def _dist(sign: int) -> Formula:
    def formula(n: Given) -> Expression:
        p = float(n.p)
        difference = Named("D", n.self - n.other if sign > 0 else n.other - n.self)
        grown = _growth(n.v, difference, n.result, p)
        if math.isinf(p):
            return grown / total(apply("abs", difference).equals(n.result))
        return grown

    return formula


def _product(left: str, right: str) -> Formula:
    return lambda n: n.operand(left) @ n.operand(right)


def _matrices(op: str, node: str, special_cases: tuple[Reason, ...]) -> Entry:
    return Entry(
        op,
        (node,),
        _product("self", "mat2"),
        (
            Vjp("self", lambda n: n.v @ adjoint(n.mat2), why("why-product-rows", left="self", right="mat2")),
            Vjp("mat2", lambda n: adjoint(n.self) @ n.v, why("why-product-columns", left="self", right="mat2")),
        ),
        special_cases,
        {"self": "A", "mat2": "B"},
    )


def _sum_entry(op: str, forward: Formula, vjps: tuple[Vjp, ...], special_cases: tuple[Reason, ...] = ()) -> Entry:
    """addmm and its kin: beta times self plus alpha times a product."""
    kept = Vjp("self", lambda n: times(n.beta, n.v), _ADDED)
    return Entry(
        op,
        (f"{op.capitalize()}Backward0",),
        lambda n: _sum(n, forward(n)),
        (kept, *vjps),
        (*special_cases, BROADCAST),
        {"self": "C"},
    )


def _scaled_by_alpha(formula: Formula) -> Formula:
    return lambda n: times(n.alpha, formula(n))


LINEAR_ALGEBRA: tuple[Entry, ...] = (
    _matrices("mm", "MmBackward0", (_SHAPES,)),
    _matrices("bmm", "BmmBackward0", (why("case-bmm"), _SHAPES)),
    Entry(
        "matmul",
        ("MatmulBackward0",),
        _product("self", "other"),
        (
            Vjp("self", _matmul_self, why("why-product-rows", left="self", right="other")),
            Vjp("other", _matmul_other, why("why-product-columns", left="self", right="other")),
        ),
        (BROADCAST, _SHAPES),
        {"self": "A", "other": "B"},
    ),
    Entry(
        "mv",
        ("MvBackward0",),
        _product("self", "vec"),
        (
            Vjp("self", lambda n: _outer(n.v, n.vec), why("why-matrix-entry", "vec", mat="self")),
            Vjp("vec", lambda n: n.v @ conj(n.self), why("why-matrix-columns", "vec", mat="self")),
        ),
        (),
        {"self": "A"},
    ),
    Entry(
        "dot",
        ("DotBackward0",),
        lambda n: total(n.operand("self") * n.operand("tensor")),
        (
            Vjp(
                "self",
                lambda n: n.v * conj(n.tensor),
                why("why-dot", "tensor"),
            ),
            Vjp("tensor", lambda n: n.v * conj(n.self), why("why-dot-tensor", "self")),
        ),
    ),
    Entry(
        "vdot",
        ("VdotBackward0",),
        lambda n: total(conj(n.operand("self")) * n.operand("other")),
        (
            Vjp(
                "self",
                lambda n: conj(n.v) * n.other,
                why("why-vdot", "other", "self"),
            ),
            Vjp("other", lambda n: n.v * n.self, why("why-vdot-other", "self")),
        ),
    ),
    _sum_entry(
        "addmm",
        _product("mat1", "mat2"),
        (
            Vjp(
                "mat1",
                _scaled_by_alpha(lambda n: n.v @ adjoint(n.mat2)),
                why("why-product-rows", left="mat1", right="mat2"),
            ),
            Vjp(
                "mat2",
                _scaled_by_alpha(lambda n: adjoint(n.mat1) @ n.v),
                why("why-product-columns", left="mat1", right="mat2"),
            ),
        ),
        (
            why("case-addmm"),
            _SHAPES,
        ),
    ),
    _sum_entry(
        "addmv",
        _product("mat", "vec"),
        (
            Vjp("mat", _scaled_by_alpha(lambda n: _outer(n.v, n.vec)), _OUTER),
            Vjp("vec", _scaled_by_alpha(lambda n: n.v @ conj(n.mat)), _THROUGH),
        ),
    ),
    _sum_entry(
        "addr",
        lambda n: apply("outer", n.operand("vec1"), n.operand("vec2")),
        (
            Vjp(
                "vec1",
                _scaled_by_alpha(lambda n: conj(n.vec2) @ transpose(n.v)),
                why("why-addr-vec1", "vec1", "vec2"),
            ),
            Vjp(
                "vec2",
                _scaled_by_alpha(lambda n: conj(n.vec1) @ n.v),
                why("why-addr-vec2", "vec2", "vec1"),
            ),
        ),
    ),
    _sum_entry(
        "baddbmm",
        _product("batch1", "batch2"),
        (
            Vjp(
                "batch1",
                _scaled_by_alpha(lambda n: n.v @ adjoint(n.batch2)),
                why("why-product-rows", left="batch1", right="batch2"),
            ),
            Vjp(
                "batch2",
                _scaled_by_alpha(lambda n: adjoint(n.batch1) @ n.v),
                why("why-product-columns", left="batch1", right="batch2"),
            ),
        ),
        (why("case-bmm"),),
    ),
    _sum_entry(
        "addbmm",
        lambda n: total(n.operand("batch1") @ n.operand("batch2"), (0,)),
        (
            Vjp("batch1", _scaled_by_alpha(lambda n: n.v @ adjoint(n.batch2)), _BATCH_ADDED),
            Vjp("batch2", _scaled_by_alpha(lambda n: adjoint(n.batch1) @ n.v), _BATCH_ADDED),
        ),
    ),
    Entry(
        "linear",
        ("LinearBackward0",),
        _linear,
        (
            Vjp(
                "input",
                lambda n: n.v @ conj(n.weight),
                why("why-linear", "input", "weight"),
            ),
            Vjp("weight", _linear_weight, why("why-linear-weight")),
            Vjp("bias", lambda n: n.v, why("why-linear-bias")),
        ),
    ),
    Entry(
        "linalg_inv_ex",
        ("LinalgInvExBackward0",),
        lambda n: apply("inverse", n.operand("A")),
        (
            Vjp(
                "A",
                lambda n: -(adjoint(n.inverse) @ n.v @ adjoint(n.inverse)),
                why("why-linalg-inv-ex-a", "A"),
            ),
        ),
    ),
    Entry(
        "linalg_det",
        ("LinalgDetBackward0",),
        lambda n: apply("det", n.operand("A")),
        (
            Vjp(
                "A",
                lambda n: _matrix_factor(n.v * conj(n.result), n) * _inverse_adjoint(n.A),
                why("why-linalg-det-a"),
            ),
        ),
        (why("case-linalg-det"),),
    ),
    Entry(
        "linalg_slogdet",
        ("LinalgSlogdetBackward0",),
        lambda n: _sign(apply("det", n.operand("A"))),
        (
            Vjp(
                "A",
                _slogdet,
                why("why-linalg-slogdet-a"),
            ),
        ),
        (why("case-linalg-slogdet"),),
    ),
    Entry(
        "linalg_cholesky_ex",
        ("LinalgCholeskyExBackward0",),
        lambda n: apply("cholesky", n.operand("self"), **({"upper": True} if n.upper else {})),
        (
            Vjp(
                "self",
                _cholesky,
                why("why-linalg-cholesky-ex", "self"),
            ),
        ),
        (why("case-linalg-cholesky-ex", "self"),),
        {"self": "A"},
    ),
    Entry(
        "linalg_solve_ex",
        ("LinalgSolveExBackward0",),
        _solve,
        (
            Vjp(
                "A",
                _solve_matrix,
                why("why-linalg-solve-ex-a", "B", "A", "result"),
            ),
            Vjp("B", _solve_right_side, _BACK_SOLVED),
        ),
        (BROADCAST,),
        {"result": "Z"},
    ),
    Entry(
        "linalg_solve_triangular",
        ("LinalgSolveTriangularBackward0",),
        lambda n: _solved_triangular(n, n.operand("self"), n.operand("B"), n.upper),
        (
            Vjp("self", _triangular_matrix, why("why-linalg-solve-triangular")),
            Vjp("B", _triangular_right_side, _BACK_SOLVED),
        ),
        (why("case-linalg-solve-triangular"), BROADCAST),
        {"self": "A", "result": "Z"},
    ),
    Entry(
        "linalg_eigh",
        ("LinalgEighBackward0",),
        None,
        (
            Vjp(
                "A",
                _eigh,
                why("why-linalg-eigh-a"),
            ),
        ),
        (why("case-linalg-eigh"),),
    ),
    Entry(
        "linalg_matrix_exp",
        ("LinalgMatrixExpBackward0",),
        lambda n: apply("matrix_exp", n.operand("self")),
        (
            Vjp(
                "self",
                _matrix_exp,
                why("why-linalg-matrix-exp"),
            ),
        ),
        (),
        {"self": "A"},
        roughness=100.0,
    ),
    Entry(
        "trace",
        ("TraceBackward0",),
        lambda n: total(apply("diagonal", n.operand("self"))),
        (Vjp("self", _trace, why("why-trace")),),
    ),
    _triangle("tril"),
    _triangle("triu"),
    Entry(
        "linalg_cross",
        ("LinalgCrossBackward0",),
        lambda n: apply("cross", n.operand("self"), n.operand("other"), dim=n.dim),
        (
            Vjp(
                "self",
                lambda n: apply("cross", conj(n.other), n.v, dim=n.dim),
                why("why-linalg-cross"),
            ),
            Vjp(
                "other",
                lambda n: apply("cross", n.v, conj(n.self), dim=n.dim),
                why("why-linalg-cross"),
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "cdist",
        ("CdistBackward0",),
        None,
        (Vjp("x1", _cdist(first=True), _AWAY), Vjp("x2", _cdist(first=False), _AWAY)),
        (why("case-cdist"),),
    ),
    Entry(
        "dist",
        ("DistBackward0",),
        None,
        (Vjp("self", _dist(1), _AWAY), Vjp("other", _dist(-1), _AWAY)),
        (why("case-dist"), BROADCAST),
    ),
)
