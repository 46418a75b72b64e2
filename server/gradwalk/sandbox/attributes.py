"""Which attribute names a program may write, whatever object they stand on.

The rules are about names, because what an object is shows only at run time. Names that the proxies
(`offer.json`) leave out need no rule here.
"""

from collections.abc import Container

from gradwalk.protocol.facts import fact
from gradwalk.sandbox.refusals import Refusal, refuse_attribute


def words(text: str) -> frozenset[str]:
    """The words of a text, so that long lists of names stay readable."""
    return frozenset(text.split())


def _dunders(text: str) -> frozenset[str]:
    return frozenset(f"__{word}__" for word in text.split())


OPERATORS = _dunders(
    """call repr str len getitem setitem delitem iter next contains eq ne lt le gt ge add sub mul truediv floordiv mod
    divmod pow matmul neg pos abs invert and or xor lshift rshift radd rsub rmul rtruediv rfloordiv rmod rdivmod rpow
    rmatmul rand ror rxor rlshift rrshift iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift
    irshift enter exit bool int float complex index hash round trunc floor ceil reversed missing format bytes
    length_hint"""
)
"""Operator methods: a program may define, call and assign them."""

DEFINABLE = OPERATORS | _dunders(
    """init new post_init init_subclass class_getitem set_name get set delete copy deepcopy array torch_function
    getattr setattr delattr"""
)
"""Special methods that a class may define."""

CLASS_NAMES = DEFINABLE - _dunders("getattr setattr delattr") | _dunders("slots doc constants")
"""Special names that a class body may assign; `__getattr__` and its kin only by `def`, where they are wrapped."""

ASSIGNABLE = OPERATORS | _dunders("name qualname doc init")
"""Special attributes that may be assigned, as in `Value.__rmul__ = Value.__mul__`."""

READABLE = OPERATORS | _dunders("init post_init name qualname doc version module members")
"""Special attributes that may be read on anything."""

READABLE_ON_SUPER = DEFINABLE
"""Special methods that `super()` may be asked for."""

GUARDED = _dunders("class dict getattr setattr delattr") | {"format", "format_map", "obj", "data", "load_state_dict"}
"""Attributes that are allowed or not by the object they are read from: the reading is rewritten."""

ALWAYS_REFUSED = words(
    """gi_frame gi_code gi_yieldfrom gi_running gi_suspended cr_frame cr_code cr_await cr_origin cr_running ag_frame
    ag_code ag_await ag_running tb_frame tb_next tb_lineno tb_lasti f_back f_globals f_locals f_builtins f_code f_trace
    f_generator f_lineno f_lasti f_trace_lines f_trace_opcodes co_code co_consts co_names co_varnames co_freevars
    co_cellvars co_filename co_positions func_globals func_code func_defaults func_closure func_dict im_func im_self
    mro with_traceback untyped_storage typed_storage share_memory_ share_memory pin_memory to_dlpack const_data_ptr
    module_load record_stream tofile from_file to_mkldnn generate_vmap_rule new_shared from_buffer
    register_load_state_dict_post_hook register_state_dict_post_hook register_load_state_dict_pre_hook
    register_state_dict_pre_hook fget fset fdel cell_contents all_weights ctypes newbyteorder setflags getfield
    setfield bit_generator evaluate_forward_ref"""
)

REFUSED_UNLESS_OWN = words(
    """storage storage_type compile set_ map_ map2_ apply_ dump dumps mtia ipu hpu saved_variables register"""
)
"""Refused unless the program itself defines an attribute or method of that name."""

READABLE_PRIVATE = words(
    """_version _base _is_view _parameters _modules _buffers _grad _fields _replace _asdict _make _field_defaults
    _missing_ _value_ _name_ _nnz _values _indices _get_name"""
)
"""Private names that may be read on anything."""

HARMLESS_PRIVATE = words(
    """_grad _grad_fn _values _indices _nnz _conj _use_count _get_name _reset_parameters _apply _update_lr _process
    _ff_block _sa_block _is_initial _initial_step _init_group _to_dense _to_sparse _sequence_nr _forward_hooks
    _backward_hooks _cdata _base _version _dimI _dimV _check_input_dim _qkv_same_embed_dim"""
)
"""Private names of torch's own that a program may use for itself."""


def is_special(name: str) -> bool:
    """Whether Python gives the name a meaning of its own (`__init__`)."""
    return name.startswith("__") and name.endswith("__")


def find_attribute_refusal(name: str, own: Container[str], library: Container[str]) -> Refusal | None:
    """Why a program may not read the attribute `name`, or None.

    Args:
        own: names that the program itself gives to attributes and methods.
        library: private names that belong to torch.
    """
    if is_special(name):
        return None if name in READABLE or name in GUARDED else refuse_attribute(name)
    if name.startswith("_"):
        mine = name in own and (name not in library or name in HARMLESS_PRIVATE)
        allowed = mine or name in READABLE_PRIVATE or name.startswith("_saved_")
        return None if allowed else refuse_attribute(name)
    if name in ALWAYS_REFUSED or (name in REFUSED_UNLESS_OWN and name not in own):
        return refuse_attribute(name)
    return None


def find_definition_refusal(name: str, library: Container[str]) -> Refusal | None:
    """Why a program may not give this name to an attribute, a method or a field, or None."""
    if is_special(name):
        return None if name in ASSIGNABLE else refuse_attribute(name)
    if name in ALWAYS_REFUSED:
        return refuse_attribute(name)
    if name.startswith("_") and name in library and name not in HARMLESS_PRIVATE:
        instead = fact("refusal-another-name", name=name)
        return Refusal(fact("refusal-name", name=name), fact("refusal-torch-name"), instead)
    return None
