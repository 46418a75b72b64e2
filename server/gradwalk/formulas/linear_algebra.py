"""Products of matrices and vectors, inverses and solutions, determinants, factorisations, distances."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math

import torch
from torch import Tensor

from gradwalk.formulas.formula import BROADCAST, Entry, NodeView, Vjp, adjoint, conjugate, times

_LEFT = "Row i of A meets every column of B to make row i of the product, so its gradient collects row i of v against all columns of B."
_RIGHT = "Column j of B meets every row of A to make column j of the product, so its gradient collects column j of v against all rows of A."
_SHAPES = "Shapes tell which side is transposed: (n, k) needs v (n, m) times B^T (m, k)."
_SCALED = "alpha and beta are 1 unless the call gives them."
_ADDED = "What is added moves the result one to one (times beta)."


def _outer(a: Tensor, b: Tensor) -> Tensor:
    return a.unsqueeze(-1) * conjugate(b).unsqueeze(-2)


def _inner(v: Tensor, x: Tensor) -> Tensor:
    """v times a vector, for v a scalar."""
    return v * conjugate(x)


def _matmul_self(n: NodeView) -> Tensor:
    v, y = _as_matrices(n)
    grad = v @ adjoint(y)
    return grad.squeeze(-2) if len(n.shape) == 1 else grad


def _matmul_other(n: NodeView) -> Tensor:
    v, _ = _as_matrices(n)
    x = n.self if n.self.dim() > 1 else n.self.unsqueeze(0)
    grad = adjoint(x) @ v
    return grad.squeeze(-1) if len(n.shape) == 1 else grad


def _as_matrices(n: NodeView) -> tuple[Tensor, Tensor]:
    v, y = n.v, n.other
    if y.dim() == 1:
        v, y = v.unsqueeze(-1), y.unsqueeze(-1)
    if n.self.dim() == 1:
        v = v.unsqueeze(-2)
    return v, y


def _batch_sum_left(n: NodeView) -> Tensor:
    return times(n.alpha, n.v @ adjoint(n.batch2))


def _batch_sum_right(n: NodeView) -> Tensor:
    return times(n.alpha, adjoint(n.batch1) @ n.v)


def _linear_weight(n: NodeView) -> Tensor:
    v, x = (t.reshape(-1, t.shape[-1]) for t in (n.v, n.input))
    return v.transpose(0, 1) @ conjugate(x)


def _det(n: NodeView) -> Tensor:
    scale = (n.v * conjugate(n.result))[..., None, None]
    return scale * adjoint(torch.linalg.inv(n.A))


def _slogdet(n: NodeView) -> Tensor:
    sign, logabsdet = n.grad_outputs
    total = torch.zeros_like(n.A)
    if logabsdet is not None:
        total = total + logabsdet[..., None, None] * adjoint(torch.linalg.inv(n.A))
    if sign is not None and n.A.is_complex():
        turning = (sign.conj() * n.sign).imag * -1j
        total = total + turning[..., None, None] * adjoint(torch.linalg.inv(n.A))
    return total


def _cholesky(n: NodeView) -> Tensor:
    lower = adjoint(n.L) if n.upper else n.L
    v = adjoint(n.v) if n.upper else n.v
    phi = adjoint(lower) @ v
    below = phi.tril(-1)
    symmetric = 0.5 * (below + adjoint(below) + torch.diag_embed(phi.diagonal(0, -2, -1)))
    inverse = torch.linalg.solve_triangular(lower, torch.eye(lower.shape[-1], dtype=v.dtype), upper=False)
    return adjoint(inverse) @ symmetric @ inverse


def _is_vector(n: NodeView) -> bool:
    return bool(n.result.dim() == 1 or (n.A.dim() - 1 == n.result.dim() and n.result.shape == n.A.shape[:-1]))


def _solve_right_side(n: NodeView) -> Tensor:
    if _is_vector(n):
        return torch.linalg.solve(adjoint(n.A), n.v.unsqueeze(-1)).squeeze(-1)
    return torch.linalg.solve(adjoint(n.A), n.v, left=n.left)


def _solve_matrix(n: NodeView) -> Tensor:
    grad = _solve_right_side(n)
    if _is_vector(n):
        return -_outer(grad, n.result)
    return -grad @ adjoint(n.result) if n.left else -adjoint(n.result) @ grad


def _triangular_right_side(n: NodeView) -> Tensor:
    return torch.linalg.solve_triangular(
        adjoint(n.self), n.v, upper=not n.upper, left=n.left, unitriangular=n.unitriangular
    )


def _triangular_matrix(n: NodeView) -> Tensor:
    grad = _triangular_right_side(n)
    grad = -grad @ adjoint(n.result) if n.left else -adjoint(n.result) @ grad
    offset = int(n.unitriangular)
    return grad.triu(offset) if n.upper else grad.tril(-offset)


def _eigh(n: NodeView) -> Tensor:
    vectors, values = n.eigenvectors, n.eigenvalues
    for_values, for_vectors = n.grad_outputs
    inner = torch.zeros_like(vectors)
    if for_vectors is not None:
        gaps = values.unsqueeze(-2) - values.unsqueeze(-1)
        gaps.diagonal(0, -2, -1).fill_(1)
        turning = adjoint(vectors) @ for_vectors
        inner = 0.5 * (turning - adjoint(turning)) / gaps
        inner.diagonal(0, -2, -1).zero_()
    if for_values is not None:
        inner = inner + torch.diag_embed(for_values)
    return vectors @ inner @ adjoint(vectors)


def _matrix_exp(n: NodeView) -> Tensor:
    """The upper right block of exp [[A^H, v], [0, A^H]] (Najfeld and Havel, 1995)."""
    a = adjoint(n.self)
    top = torch.cat([a, n.v], -1)
    bottom = torch.cat([torch.zeros_like(a), a], -1)
    size = a.shape[-1]
    return torch.linalg.matrix_exp(torch.cat([top, bottom], -2))[..., :size, size:]


def _cdist(v: Tensor, x: Tensor, y: Tensor, result: Tensor, p: float) -> Tensor:
    difference = x.unsqueeze(-2) - y.unsqueeze(-3)
    norm, v = result.unsqueeze(-1), v.unsqueeze(-1)
    if p == 0:
        return torch.zeros_like(difference).sum(-2)
    if math.isinf(p):
        slope = difference.sgn() * (difference.abs() == norm)
    else:
        slope = difference.sgn() * (difference.abs() / norm).pow(p - 1)
    return (v * slope.masked_fill((norm == 0) | (difference == 0), 0)).sum(-2)


def _dist(n: NodeView) -> Tensor:
    difference, p = n.self - n.other, float(n.p)
    if p == 0:
        return torch.zeros_like(difference)
    if math.isinf(p):
        tied = (difference.abs() == n.result).to(n.v.dtype)
        return difference.sgn() * n.v * tied / tied.sum()
    slope = difference.sgn() * (difference.abs() / n.result).pow(p - 1)
    return n.v * slope.masked_fill((n.result == 0) | (difference == 0), 0)


LINEAR_ALGEBRA: tuple[Entry, ...] = (
    Entry(
        "mm",
        ("MmBackward0",),
        r"@result = @self @mat2",
        (
            Vjp("self", r"@v @{mat2}^\top", "v @ B^T", _LEFT, lambda n: n.v @ adjoint(n.mat2)),
            Vjp("mat2", r"@{self}^\top @v", "A^T @ v", _RIGHT, lambda n: adjoint(n.self) @ n.v),
        ),
        (_SHAPES,),
        {"self": "A", "mat2": "B"},
    ),
    Entry(
        "bmm",
        ("BmmBackward0",),
        r"@{result}_k = @{self}_k @{mat2}_k",
        (
            Vjp("self", r"@v @{mat2}^\top", "v @ B^T, matrix by matrix", _LEFT, lambda n: n.v @ adjoint(n.mat2)),
            Vjp("mat2", r"@{self}^\top @v", "A^T @ v, matrix by matrix", _RIGHT, lambda n: adjoint(n.self) @ n.v),
        ),
        ("Each matrix of the batch is a product of its own.", _SHAPES),
        {"self": "A", "mat2": "B"},
    ),
    Entry(
        "matmul",
        ("MatmulBackward0",),
        r"@result = @self @other",
        (
            Vjp("self", r"@v @{other}^\top", "v @ B^T", _LEFT, _matmul_self),
            Vjp("other", r"@{self}^\top @v", "A^T @ v", _RIGHT, _matmul_other),
        ),
        (BROADCAST, _SHAPES),
        {"self": "A", "other": "B"},
    ),
    Entry(
        "mv",
        ("MvBackward0",),
        r"@result = @self @vec",
        (
            Vjp(
                "self",
                r"@v \, @{vec}^\top",
                "outer(v, y)",
                "Entry (i, j) of the matrix multiplies y_j into z_i, so it gets v_i y_j.",
                lambda n: _outer(n.v, n.vec),
            ),
            Vjp(
                "vec",
                r"@{self}^\top @v",
                "A^T @ v",
                "y_j reaches every z_i through column j of the matrix: v times the Jacobian A, to the letter.",
                lambda n: adjoint(n.self) @ n.v,
            ),
        ),
        (),
        {"self": "A"},
    ),
    Entry(
        "dot",
        ("DotBackward0",),
        r"@result = @self \cdot @tensor",
        (
            Vjp(
                "self", r"@v \, @tensor", "v * y", "x_i is scaled by y_i and added up.", lambda n: _inner(n.v, n.tensor)
            ),
            Vjp("tensor", r"@v \, @self", "v * x", "y_i is scaled by x_i and added up.", lambda n: _inner(n.v, n.self)),
        ),
    ),
    Entry(
        "vdot",
        ("VdotBackward0",),
        r"@result = \overline{@self} \cdot @other",
        (
            Vjp(
                "self",
                r"\overline{@v} \, @other",
                "conj(v) * y",
                "x enters conjugated, so its gradient comes back conjugated.",
                lambda n: n.v.conj() * n.other,
            ),
            Vjp(
                "other",
                r"@v \, @self",
                "v * x",
                "y_i is scaled by the conjugate of x_i and added up.",
                lambda n: n.v * n.self,
            ),
        ),
    ),
    Entry(
        "addmm",
        ("AddmmBackward0",),
        r"@result = @beta @self + @alpha @mat1 @mat2",
        (
            Vjp("self", r"@beta @v", "beta * v", _ADDED, lambda n: times(n.beta, n.v)),
            Vjp(
                "mat1",
                r"@alpha @v @{mat2}^\top",
                "alpha * v @ B^T",
                _LEFT,
                lambda n: times(n.alpha, n.v @ adjoint(n.mat2)),
            ),
            Vjp(
                "mat2",
                r"@alpha @{mat1}^\top @v",
                "alpha * A^T @ v",
                _RIGHT,
                lambda n: times(n.alpha, adjoint(n.mat1) @ n.v),
            ),
        ),
        (
            "This is what nn.Linear runs: b + x W^T. The bias is added to every row, so its gradient is the sum over the rows of v.",
            _SCALED,
            BROADCAST,
            _SHAPES,
        ),
        {"self": "b"},
    ),
    Entry(
        "addmv",
        ("AddmvBackward0",),
        r"@result = @beta @self + @alpha @mat @vec",
        (
            Vjp("self", r"@beta @v", "beta * v", _ADDED, lambda n: times(n.beta, n.v)),
            Vjp(
                "mat",
                r"@alpha \, @v \, @{vec}^\top",
                "alpha * outer(v, y)",
                "Entry (i, j) of the matrix multiplies y_j into z_i, so it gets v_i y_j.",
                lambda n: times(n.alpha, _outer(n.v, n.vec)),
            ),
            Vjp(
                "vec",
                r"@alpha @{mat}^\top @v",
                "alpha * A^T @ v",
                "y_j reaches every z_i through column j of the matrix.",
                lambda n: times(n.alpha, adjoint(n.mat) @ n.v),
            ),
        ),
        (_SCALED, BROADCAST),
    ),
    Entry(
        "addr",
        ("AddrBackward0",),
        r"@result = @beta @self + @alpha \, @vec1 @{vec2}^\top",
        (
            Vjp("self", r"@beta @v", "beta * v", _ADDED, lambda n: times(n.beta, n.v)),
            Vjp(
                "vec1",
                r"@alpha @v @vec2",
                "alpha * v @ b",
                "a_i is spread over row i, weighted with b.",
                lambda n: times(n.alpha, n.v @ conjugate(n.vec2)),
            ),
            Vjp(
                "vec2",
                r"@alpha @{v}^\top @vec1",
                "alpha * v^T @ a",
                "b_j is spread over column j, weighted with a.",
                lambda n: times(n.alpha, n.v.t() @ conjugate(n.vec1)),
            ),
        ),
        (_SCALED, BROADCAST),
    ),
    Entry(
        "baddbmm",
        ("BaddbmmBackward0",),
        r"@{result}_k = @beta @{self}_k + @alpha @{batch1}_k @{batch2}_k",
        (
            Vjp("self", r"@beta @v", "beta * v", _ADDED, lambda n: times(n.beta, n.v)),
            Vjp("batch1", r"@alpha @v @{batch2}^\top", "alpha * v @ B^T, matrix by matrix", _LEFT, _batch_sum_left),
            Vjp("batch2", r"@alpha @{batch1}^\top @v", "alpha * A^T @ v, matrix by matrix", _RIGHT, _batch_sum_right),
        ),
        (_SCALED, BROADCAST),
    ),
    Entry(
        "addbmm",
        ("AddbmmBackward0",),
        r"@result = @beta @self + @alpha \textstyle\sum_k @{batch1}_k @{batch2}_k",
        (
            Vjp("self", r"@beta @v", "beta * v", _ADDED, lambda n: times(n.beta, n.v)),
            Vjp(
                "batch1",
                r"@alpha @v @{batch2}_k^\top",
                "alpha * v @ B_k^T for every k",
                "All products of the batch are added up, so every one of them gets the same v.",
                _batch_sum_left,
            ),
            Vjp(
                "batch2",
                r"@alpha @{batch1}_k^\top @v",
                "alpha * A_k^T @ v for every k",
                "All products of the batch are added up, so every one of them gets the same v.",
                _batch_sum_right,
            ),
        ),
        (_SCALED, BROADCAST),
    ),
    Entry(
        "linear",
        ("LinearBackward0",),
        r"@result = @input @{weight}^\top + @bias",
        (
            Vjp("input", r"@v @weight", "v @ W", _LEFT, lambda n: n.v @ conjugate(n.weight)),
            Vjp(
                "weight",
                r"@{v}^\top @input",
                "v^T @ x",
                "Every row of the batch used the same weights, so their contributions add up.",
                _linear_weight,
            ),
            Vjp(
                "bias",
                r"\textstyle\sum_{\text{rows}} @v",
                "sum of v over the rows",
                "The bias was added to every row, so it gets the sum of all rows.",
                lambda n: n.v.reshape(-1, n.v.shape[-1]).sum(0),
            ),
        ),
    ),
    Entry(
        "linalg_inv_ex",
        ("LinalgInvExBackward0",),
        r"@result = @{A}^{-1}",
        (
            Vjp(
                "A",
                r"-@{result}^\top @v @{result}^\top",
                "-Z^T @ v @ Z^T",
                "From A Z = 1 follows dA Z + A dZ = 0, so dZ = -Z dA Z: the matrix form of -1/x^2.",
                lambda n: -adjoint(n.inverse) @ n.v @ adjoint(n.inverse),
            ),
        ),
        (),
        {"result": "Z"},
    ),
    Entry(
        "linalg_det",
        ("LinalgDetBackward0",),
        r"@result = \det @A",
        (
            Vjp(
                "A",
                r"@v \, @result \, @{A}^{-\top}",
                "v * z * inverse(A)^T",
                "Jacobi's formula: entry (i, j) is scaled by its cofactor, and all cofactors together are det(A) A^-T.",
                _det,
            ),
        ),
        (
            "For a singular matrix the cofactors still exist though the inverse does not; torch computes them another way.",
        ),
    ),
    Entry(
        "linalg_slogdet",
        ("LinalgSlogdetBackward0",),
        r"@result = (\operatorname{sgn} \det @A, \log |\det @A|)",
        (
            Vjp(
                "A",
                r"@v1 \, @{A}^{-\top}",
                "v1 * inverse(A)^T",
                "The logarithm of the determinant: the determinant's gradient divided by the determinant.",
                _slogdet,
            ),
        ),
        ("The sign of a real matrix is a staircase and adds nothing; for a complex one it can turn.",),
    ),
    Entry(
        "linalg_cholesky_ex",
        ("LinalgCholeskyExBackward0",),
        r"@self = @L @{L}^\top",
        (
            Vjp(
                "self",
                r"\tfrac{1}{2} @{L}^{-\top} \, \Phi(@{L}^\top @v) \, @{L}^{-1}",
                "L^-T @ Phi(L^T @ v) @ L^-1 / 2, Phi = the lower triangle mirrored to the upper",
                "From dA = dL L^T + L dL^T, solved for the lower triangular dL.",
                _cholesky,
            ),
        ),
        ("The gradient is symmetric, as if A could only be nudged symmetrically.",),
        {"self": "A"},
    ),
    Entry(
        "linalg_solve_ex",
        ("LinalgSolveExBackward0",),
        r"@result = @{A}^{-1} @B",
        (
            Vjp(
                "A",
                r"-(@{A}^{-\top} @v) \, @{result}^\top",
                "-(A^-T @ v) @ Z^T",
                "From A Z = B follows dA Z + A dZ = 0: a nudge of A acts through the solution Z, and is undone by A.",
                _solve_matrix,
            ),
            Vjp(
                "B",
                r"@{A}^{-\top} @v",
                "solve(A^T, v)",
                "The solution is linear in B; going back solves with the transposed matrix.",
                _solve_right_side,
            ),
        ),
        ("With left=False the system is Z A = B and both formulas are mirrored.", BROADCAST),
        {"result": "Z"},
    ),
    Entry(
        "linalg_solve_triangular",
        ("LinalgSolveTriangularBackward0",),
        r"@result = @{self}^{-1} @B",
        (
            Vjp(
                "self",
                r"-\operatorname{tri}\left((@{self}^{-\top} @v) \, @{result}^\top\right)",
                "-tri((A^-T @ v) @ Z^T)",
                "As for any linear system, but only the triangle that is used can matter.",
                _triangular_matrix,
            ),
            Vjp(
                "B",
                r"@{self}^{-\top} @v",
                "solve_triangular(A^T, v)",
                "The solution is linear in B; going back solves with the transposed matrix.",
                _triangular_right_side,
            ),
        ),
        ("unitriangular: the diagonal counts as 1 and gets no gradient.", BROADCAST),
        {"self": "A", "result": "Z"},
    ),
    Entry(
        "linalg_eigh",
        ("LinalgEighBackward0",),
        r"@A = V \operatorname{diag}(\lambda) V^\top",
        (
            Vjp(
                "A",
                r"V \left(\operatorname{diag}(@v0) + \frac{\operatorname{skew}(V^\top @v1)}{\lambda_j - \lambda_i}\right) V^\top",
                "V @ (diag(v0) + skew(V^T @ v1) / (lambda_j - lambda_i)) @ V^T",
                "An eigenvalue moves by the nudge seen from its own eigenvector; an eigenvector turns towards the others, faster the closer their eigenvalues.",
                _eigh,
            ),
        ),
        ("Equal eigenvalues make the eigenvectors' part infinite: they are not determined.",),
    ),
    Entry(
        "linalg_matrix_exp",
        ("LinalgMatrixExpBackward0",),
        r"@result = e^{@self}",
        (
            Vjp(
                "self",
                r"\left[\exp \begin{pmatrix} @{self}^\top & @v \\ 0 & @{self}^\top \end{pmatrix}\right]_{12}",
                "upper right block of exp([[A^T, v], [0, A^T]])",
                "Matrices do not commute, so e^A v would be wrong; the block matrix collects v at every place in every power.",
                _matrix_exp,
            ),
        ),
        (),
        {"self": "A", "result": "Z"},
        roughness=100.0,
    ),
    Entry(
        "trace",
        ("TraceBackward0",),
        r"@result = \textstyle\sum_i @{self}_{ii}",
        (
            Vjp(
                "self",
                r"@v \, I",
                "v * identity",
                "Only the diagonal is added up, each entry once.",
                lambda n: torch.eye(*n.shape, dtype=n.v.dtype, device=n.v.device) * n.v,
            ),
        ),
    ),
    Entry(
        "tril",
        ("TrilBackward0",),
        r"@{result}_{ij} = @{self}_{ij} [j \le i + k]",
        (
            Vjp(
                "self",
                r"\operatorname{tril}(@v)",
                "tril(v, diagonal)",
                "What was cut off had no effect; the rest was copied.",
                lambda n: n.v.tril(n.diagonal),
            ),
        ),
    ),
    Entry(
        "triu",
        ("TriuBackward0",),
        r"@{result}_{ij} = @{self}_{ij} [j \ge i + k]",
        (
            Vjp(
                "self",
                r"\operatorname{triu}(@v)",
                "triu(v, diagonal)",
                "What was cut off had no effect; the rest was copied.",
                lambda n: n.v.triu(n.diagonal),
            ),
        ),
    ),
    Entry(
        "linalg_cross",
        ("LinalgCrossBackward0",),
        r"@result = @self \times @other",
        (
            Vjp(
                "self",
                r"@other \times @v",
                "cross(y, v)",
                "Of v . (dx x y) the factors may be turned in a circle: dx . (y x v).",
                lambda n: torch.linalg.cross(conjugate(n.other).expand_as(n.v), n.v, dim=n.dim),
            ),
            Vjp(
                "other",
                r"@v \times @self",
                "cross(v, x)",
                "Of v . (x x dy) the factors may be turned in a circle: dy . (v x x).",
                lambda n: torch.linalg.cross(n.v, conjugate(n.self).expand_as(n.v), dim=n.dim),
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "cdist",
        ("CdistBackward0",),
        r"@{result}_{ij} = \lVert a_i - b_j \rVert_p",
        (
            Vjp(
                "x1",
                r"\textstyle\sum_j @{v}_{ij} \, \frac{a_i - b_j}{@{result}_{ij}}",
                "sum over j of v_ij * (a_i - b_j) / z_ij",
                "Moving a point away from another lengthens their distance most along the line between them.",
                lambda n: _cdist(n.v, n.x1, n.x2, n.result, n.p),
            ),
            Vjp(
                "x2",
                r"\textstyle\sum_i @{v}_{ij} \, \frac{b_j - a_i}{@{result}_{ij}}",
                "sum over i of v_ij * (b_j - a_i) / z_ij",
                "Moving a point away from another lengthens their distance most along the line between them.",
                lambda n: _cdist(n.v.mT, n.x2, n.x1, n.result.mT, n.p),
            ),
        ),
        (
            "Written for p = 2; other p weigh the coordinates as the p-norm does.",
            "Where two points coincide torch uses 0.",
        ),
    ),
    Entry(
        "dist",
        ("DistBackward0",),
        r"@result = \lVert @self - @other \rVert_p",
        (
            Vjp(
                "self",
                r"@v \odot \frac{@self - @other}{@result}",
                "v * (x - y) / z",
                "The distance grows fastest straight away from the other point.",
                _dist,
            ),
            Vjp(
                "other",
                r"@v \odot \frac{@other - @self}{@result}",
                "v * (y - x) / z",
                "The distance grows fastest straight away from the other point.",
                lambda n: -_dist(n),
            ),
        ),
        (
            "Written for p = 2; other p weigh the coordinates as the p-norm does.",
            "Where both are equal torch uses 0.",
            BROADCAST,
        ),
    ),
)
