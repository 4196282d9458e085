"""The groups of kernels in the tables of times."""

GROUPS = {
    "matrix multiplies": (
        "matmul matmul_dequant4 matmul_dequant8 matmul_grouped matmul_splitk bmm desc_matmul dot3 dot_f16acc scaled_dot"
    ),
    "attention": "attention",
    "matrix by vector": "gemv",
    "softmax, norms, losses": "softmax_rows layernorm rmsnorm cross_entropy welford swiglu rope dropout",
    "reductions, scans, sorts": "reduce2 reduce3 reduce_tuple scan2 scan_linear sort_rows topk_rows histo",
    "transposes, copies, gathers": (
        "transpose2 permute3 copy2d gather2 join_split cat_flip embed desc_copy desc3 masked_window swizzled bcast bool_mem"
        " barrier_exchange"
    ),
    "conversions of types": "cast_flt cast_fp8 cast_from8 cast_int cast_rtz bitcasts sgn_abs f8_arith",
    "elementwise math": (
        "unary vadd libfun int_ops mulhi_k divs float_rem axpby_stride bf16_arith minmax_nan selects conv1d hints"
    ),
}
# All kernels that the others leave.
LAST = "atomics, control flow, other"
NAMES = (*GROUPS, LAST)


def find_group(kernel: str) -> str:
    """The group of a kernel."""
    return next((group for group, kernels in GROUPS.items() if kernel in kernels.split()), LAST)
