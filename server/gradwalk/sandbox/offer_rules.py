"""What belongs in the offer, for the installed versions: the rules behind `offer.json`.

`python -m gradwalk.sandbox.offer_rules` writes the file. Nothing reads these rules at run time, so a name that an
upgrade adds stays out until somebody has looked at it; a test fails as long as the two differ.
"""

import importlib
import json
import types
from collections.abc import Iterable, Mapping
from typing import Any

import numpy
import torch
from torch import nn

from gradwalk.sandbox.attributes import words
from gradwalk.sandbox.offer import OFFER_PATH
from gradwalk.sandbox.proxies import exists

_TORCH_REFUSED = words(
    """from_file frombuffer from_dlpack to_dlpack fork wait import_ir_module import_ir_module_from_buffer parse_ir
    parse_schema parse_type_comment merge_type_from_type_comment unify_type_list load save compile jit hub ops classes
    set_num_threads set_num_interop_threads init_num_threads get_num_threads get_num_interop_threads hash_tensor
    set_flush_denormal is_vulkan_available set_autocast_enabled get_file_path cudnn_is_acceptable get_device
    resize_as_ resize_as_sparse_ as_strided_ empty_quantized clear_autocast_cache autocast_increment_nesting
    autocast_decrement_nesting set_anomaly_enabled"""
)
_TORCH_REFUSED_PREFIXES = tuple(
    words(
        """cudnn_ miopen_ mkldnn_ fbgemm_ quantize fake_quantize q_ set_autocast get_autocast is_autocast fused_
        batch_norm_ choose_qparams _ unsafe_ sym_ sparse_ dequantize int_repr empty_permuted"""
    )
)
_TORCH_MORE = """
    Tensor Size dtype device layout memory_format Generator finfo iinfo no_grad enable_grad set_grad_enabled
    inference_mode autocast FloatTensor DoubleTensor LongTensor IntTensor BoolTensor atleast_1d atleast_2d atleast_3d
    block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist chain_matmul einsum get_default_dtype
    set_default_dtype set_printoptions manual_seed seed initial_seed get_rng_state set_rng_state is_tensor meshgrid norm
    split stft tensordot unique unique_consecutive unravel_index vmap lu lobpcg pca_lowrank svd_lowrank
    use_deterministic_algorithms are_deterministic_algorithms_enabled typename is_storage get_default_device
    set_float32_matmul_precision get_float32_matmul_precision e pi inf nan newaxis strided sparse_coo sparse_csr
    channels_last channels_last_3d contiguous_format preserve_format from_numpy sparse_coo_tensor
"""
_FUNCTIONAL_REFUSED = words(
    """BroadcastingList1 BroadcastingList2 BroadcastingList3 Callable DType Optional ScalingType SwizzleType Tensor
    assert_int_or_pair boolean_dispatch handle_torch_function has_torch_function has_torch_function_unary
    has_torch_function_variadic"""
)
_NN_REFUSED = frozenset({"ParameterDict", "DataParallel", "SyncBatchNorm", "Container"})

_LISTS: Mapping[str, str] = {
    "torch.nn.init": """
        calculate_gain constant_ dirac_ eye_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_ sparse_
        trunc_normal_ uniform_ xavier_normal_ xavier_uniform_ zeros_
    """,
    "torch.nn.parameter": "Parameter Buffer",
    "torch.nn.utils": """
        clip_grad_norm_ clip_grad_value_ get_total_norm parameters_to_vector vector_to_parameters weight_norm
        remove_weight_norm spectral_norm remove_spectral_norm
    """,
    "torch.nn.utils.rnn": """
        PackedSequence pad_sequence pack_sequence pack_padded_sequence pad_packed_sequence unpad_sequence
    """,
    "torch.autograd": """
        Function Variable backward grad gradcheck gradgradcheck no_grad enable_grad set_grad_enabled inference_mode
        detect_anomaly set_detect_anomaly
    """,
    "torch.autograd.function": "Function FunctionCtx once_differentiable",
    "torch.autograd.functional": "vjp jvp jacobian hessian hvp vhp",
    "torch.autograd.graph": """
        saved_tensors_hooks Node GradientEdge get_gradient_edge register_multi_grad_hook increment_version
        allow_mutation_on_saved_tensors disable_saved_tensors_hooks
    """,
    "torch.autograd.forward_ad": """
        dual_level make_dual unpack_dual enter_dual_level exit_dual_level UnpackedDualTensor
    """,
    "torch.autograd.gradcheck": "gradcheck gradgradcheck GradcheckError",
    "torch.autograd.grad_mode": "no_grad enable_grad set_grad_enabled inference_mode",
    "torch.autograd.variable": "Variable",
    "torch.func": """
        functional_call functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize stack_module_state vjp
        vmap
    """,
    "torch.optim": """
        Optimizer SGD Adam AdamW RMSprop Adagrad Adadelta Adafactor Adamax NAdam RAdam LBFGS Muon Rprop ASGD
        SparseAdam
    """,
    "torch.optim.lr_scheduler": """
        ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LRScheduler
        LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR
    """,
    "torch.utils.checkpoint": "checkpoint checkpoint_sequential",
    "torch.utils.data": """
        Dataset IterableDataset TensorDataset ConcatDataset Subset random_split BatchSampler Sampler RandomSampler
        SequentialSampler SubsetRandomSampler WeightedRandomSampler default_collate
    """,
    "torch.utils": "",
    "torch.random": "manual_seed seed initial_seed get_rng_state set_rng_state fork_rng",
    "torch.amp": "autocast",
    "torch.sparse": "mm sum softmax log_softmax addmm",
    "torch.testing": "assert_close make_tensor",
    "torch.distributions": """
        Bernoulli Beta Binomial Categorical Cauchy Dirichlet Distribution Exponential Gamma Geometric Gumbel
        HalfNormal Independent Laplace LogNormal MultivariateNormal Normal OneHotCategorical Poisson StudentT
        Uniform kl_divergence MixtureSameFamily Multinomial RelaxedBernoulli RelaxedOneHotCategorical
    """,
    "torch.cuda": "",
    "torch.backends": "",
    "torch.version": "",
    "math": """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2
        expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp
        lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt sumprod tan
        tanh tau trunc ulp fma
    """,
    "cmath": """
        acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf isnan log log10 nan nanj
        phase pi polar rect sin sinh sqrt tan tanh tau
    """,
    "typing": """
        Any Callable ClassVar DefaultDict Deque Dict Final FrozenSet Generic Hashable Iterable Iterator List Literal
        Mapping MutableMapping MutableSequence Generator Optional OrderedDict Protocol Sequence Set Sized
        SupportsFloat SupportsIndex SupportsInt Tuple Type TypeAlias TypeVar TypedDict Union Annotated NewType
        NoReturn Never Self Concatenate ParamSpec Text Counter Collection Container Reversible TYPE_CHECKING cast
        overload final override runtime_checkable Required NotRequired Unpack
    """,
    "functools": "partial reduce lru_cache cache cached_property total_ordering cmp_to_key",
    "collections": "OrderedDict defaultdict deque Counter ChainMap",
    "collections.abc": """
        Callable Collection Container Generator Hashable Iterable Iterator Mapping MutableMapping MutableSequence
        MutableSet Reversible Sequence Set Sized KeysView ItemsView ValuesView
    """,
    "dataclasses": """
        dataclass field asdict astuple replace fields is_dataclass InitVar KW_ONLY MISSING FrozenInstanceError
    """,
    "itertools": """
        accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest
    """,
    "operator": """
        abs add and_ concat contains countOf eq floordiv ge getitem gt iadd imul index indexOf inv invert is_ is_not
        isub itemgetter itruediv le lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem delitem sub
        truediv truth xor
    """,
    "random": """
        betavariate choice choices expovariate gauss getrandbits lognormvariate normalvariate paretovariate
        randbytes randint random randrange sample seed shuffle triangular uniform vonmisesvariate weibullvariate
        getstate setstate
    """,
    "copy": "copy deepcopy",
    "enum": "auto unique",
    "abc": "ABC abstractmethod",
    "contextlib": "contextmanager nullcontext suppress ExitStack closing ContextDecorator AbstractContextManager",
    "warnings": "warn filterwarnings simplefilter catch_warnings resetwarnings",
    "time": "time perf_counter monotonic process_time perf_counter_ns time_ns monotonic_ns",
    "statistics": "mean median mode stdev variance pstdev pvariance fmean geometric_mean harmonic_mean",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "numbers": "Number Complex Real Rational Integral",
    "string": """
        ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation whitespace
    """,
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "textwrap": "dedent fill indent shorten wrap",
    "pprint": "pprint pformat",
    "json": "dumps loads JSONDecodeError",
    "re": """
        compile escape findall finditer fullmatch match search split sub subn IGNORECASE MULTILINE DOTALL VERBOSE I
        M S X Pattern Match
    """,
    "types": "",
    "sys": "",
    "__future__": """
        annotations division print_function absolute_import generators nested_scopes with_statement unicode_literals
    """,
    "numpy": """
        array asarray ascontiguousarray atleast_1d atleast_2d atleast_3d zeros ones empty full zeros_like ones_like
        empty_like full_like arange linspace logspace geomspace eye identity diag diagflat tri tril triu meshgrid
        mgrid ogrid indices fromiter fromfunction copy ndarray dtype generic number integer floating complexfloating
        inexact signedinteger unsignedinteger bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16
        float32 float64 complex64 complex128 intp pi e inf nan newaxis euler_gamma finfo iinfo reshape ravel
        transpose swapaxes moveaxis rollaxis expand_dims squeeze concatenate stack vstack hstack dstack column_stack
        split array_split hsplit vsplit dsplit tile repeat flip fliplr flipud roll rot90 append insert delete pad
        broadcast_to broadcast_arrays broadcast_shapes c_ r_ s_ ix_ unique trim_zeros block sum prod mean average
        std var median percentile quantile min max amin amax ptp argmin argmax cumsum cumprod diff ediff1d gradient
        trapezoid cross dot vdot inner outer matmul tensordot einsum kron trace convolve correlate interp corrcoef
        cov histogram bincount digitize nansum nanmean nanstd nanvar nanmin nanmax nanargmax nanargmin nancumsum
        nanprod nan_to_num real imag angle clip round around fix where select piecewise choose compress take
        take_along_axis put_along_axis extract nonzero flatnonzero argwhere argsort sort searchsorted partition
        argpartition lexsort count_nonzero all any allclose isclose array_equal array_equiv isreal iscomplex
        isrealobj iscomplexobj isscalar ndim shape size result_type promote_types can_cast astype vectorize
        apply_along_axis apply_over_axes poly polyadd polyder polyfit polyint polymul polyval roots sinc i0 hanning
        hamming blackman bartlett unravel_index ravel_multi_index ndenumerate ndindex set_printoptions
        get_printoptions printoptions array2string array_repr array_str errstate intersect1d union1d setdiff1d in1d
        isin setxor1d may_share_memory shares_memory fill_diagonal diag_indices tril_indices triu_indices vander
    """,
    "numpy.linalg": """
        LinAlgError cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank multi_dot norm
        pinv qr slogdet solve svd svdvals tensorinv tensorsolve trace
    """,
    "numpy.random": """
        seed rand randn randint random random_sample uniform normal standard_normal choice permutation shuffle
        exponential poisson binomial beta gamma multivariate_normal multinomial default_rng RandomState Generator
        laplace logistic dirichlet
    """,
    "numpy.fft": "fft ifft fft2 ifft2 fftn ifftn rfft irfft fftfreq rfftfreq fftshift ifftshift",
    "numpy.typing": "NDArray ArrayLike",
}  # fmt: skip
"""Names offered one by one. A name that the installed version lacks is simply not there."""

_STANDARD = frozenset(_LISTS) - {name for name in _LISTS if name.startswith(("torch", "numpy"))}
_WATCHED_CLASSES = {
    "torch.Tensor": torch.Tensor,
    "torch.nn.Module": nn.Module,
    "torch.autograd.Function": torch.autograd.Function,
    "torch.Generator": torch.Generator,
    "torch.optim.Optimizer": torch.optim.Optimizer,
    "numpy.ndarray": numpy.ndarray,
}
"""Classes whose public attributes are frozen too."""


def compute_offer() -> dict[str, Any]:
    """The offer by the rules, for the installed versions.

    Modules of the standard library are listed whole, since what exists differs between Python versions.
    """
    modules: dict[str, list[str]] = {}
    for name, text in _LISTS.items():
        listed = text.split()
        module = importlib.import_module(name)
        modules[name] = sorted(listed if name in _STANDARD else _present(module, listed))
    modules["torch"] = _torch_names()
    modules["torch.nn"] = [one for one in _public(nn) if isinstance(getattr(nn, one), type) and one not in _NN_REFUSED]
    functional = importlib.import_module("torch.nn.functional")
    modules["torch.nn.functional"] = [
        one for one in _public(functional) if callable(getattr(functional, one)) and one not in _FUNCTIONAL_REFUSED
    ]
    for name in ("torch.linalg", "torch.fft", "torch.special"):
        module = importlib.import_module(name)
        modules[name] = [one for one in _public(module) if isinstance(getattr(module, one), types.BuiltinFunctionType)]
    modules["numpy"] = sorted({*modules["numpy"], *_universal_functions()})
    return {
        "modules": dict(sorted(modules.items())),
        "private": _private_names(),
        "attributes": {name: _public(value) for name, value in _WATCHED_CLASSES.items()},
    }


def _torch_names() -> list[str]:
    names = {
        name
        for name in _public(torch)
        if name not in _TORCH_REFUSED
        and not name.startswith(_TORCH_REFUSED_PREFIXES)
        and isinstance(getattr(torch, name), types.BuiltinFunctionType | torch.dtype)
    }
    return sorted(names | set(_present(torch, _TORCH_MORE.split())))


def _universal_functions() -> list[str]:
    return [name for name in _public(numpy) if isinstance(getattr(numpy, name), numpy.ufunc)]


def _private_names() -> list[str]:
    """Private names on the objects that a program holds, so that it cannot read them by defining its own."""
    node = (torch.ones(1, requires_grad=True) * 2).grad_fn
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)])
    values: list[object] = [
        torch.Tensor,
        torch.Size,
        torch.Generator,
        torch.autograd.Function,
        node,
        type(node),
        nn.Linear(1, 1),
        nn.LSTM(1, 1),
        nn.MultiheadAttention(2, 1),
        nn.BatchNorm1d(1),
        nn.Sequential(),
        nn.ParameterList(),
        nn.ParameterDict,
        nn.TransformerEncoderLayer(2, 1),
        nn.AdaptiveLogSoftmaxWithLoss(4, 4, [2]),
        optimizer,
        torch.optim.LBFGS([torch.ones(1, requires_grad=True)]),
        torch.optim.lr_scheduler.StepLR(optimizer, 1),
        torch.distributions.Normal(0.0, 1.0),
        torch.utils.data.DataLoader([1]),  # type: ignore[arg-type]
        torch.no_grad(),
    ]
    found: set[str] = set()
    for value in values:
        found.update(name for name in dir(value) if name.startswith("_") and not name.endswith("__"))
    return sorted(found)


def _public(value: object) -> list[str]:
    return sorted(name for name in dir(value) if not name.startswith("_"))


def _present(module: types.ModuleType, names: Iterable[str]) -> list[str]:
    return [name for name in names if exists(module, name)]


if __name__ == "__main__":
    OFFER_PATH.write_text(json.dumps(compute_offer(), indent=1) + "\n", encoding="utf-8")
