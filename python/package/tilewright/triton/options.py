"""The options of a compilation, as Triton's frontend and programs ask for them."""

from __future__ import annotations

import hashlib
from typing import Any

_DEFAULTS: dict[str, Any] = {
    "num_warps": 4,
    "num_ctas": 1,
    "num_stages": 3,
    "maxnreg": None,
    "extern_libs": (),
    "debug": False,
    "sanitize_overflow": True,
    "enable_fp_fusion": True,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "supported_fp8_dtypes": ("fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15"),
    "deprecated_fp8_dot_operand_dtypes": (),
    "default_dot_input_precision": "tf32",
    "allowed_dot_input_precisions": ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"),
    "max_num_imprecise_acc_default": 0,
    "instrumentation_mode": "",
    "fpsan_homomorphic_casts": False,
    "ir_override": None,
    "backend_name": "tilewright",
}


class Options:
    """Options by attribute. Others are accepted and ignored, since programs pass those of the vendor for which they were
    written, such as `waves_per_eu`; Triton also passes the kernel's own keyword arguments, which are no options."""

    def __init__(self, given: dict[str, Any], arch: str, warp_size: int) -> None:
        values = {name: value for name, value in given.items() if name in _DEFAULTS and value is not None}
        self.__dict__.update(dict.fromkeys(given))
        self.__dict__.update({**_DEFAULTS, **values, "arch": arch, "warp_size": warp_size})
        warps = self.__dict__["num_warps"]
        # The exception that Triton's backends raise.
        assert warps > 0 and not warps & (warps - 1), f"num_warps must be a power of 2, not {warps}"

    def hash(self) -> str:
        """Returns a key of all options for Triton's cache."""
        text = "_".join(f"{name}-{self.__dict__[name]}" for name in (*_DEFAULTS, "arch", "warp_size"))
        return hashlib.sha256(text.encode()).hexdigest()
