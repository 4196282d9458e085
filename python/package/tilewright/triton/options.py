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
    """Options by attribute. Unknown ones are kept and ignored: programs pass those of the vendor for which they were written,
    such as `waves_per_eu`."""

    def __init__(self, given: dict[str, Any], arch: str, warp_size: int) -> None:
        values = {name: value for name, value in given.items() if value is not None}
        self.__dict__.update({**_DEFAULTS, **values, "arch": arch, "warp_size": warp_size})
        warps = self.__dict__["num_warps"]
        if warps <= 0 or warps & (warps - 1):
            raise ValueError(f"num_warps is {warps}; it must be a power of 2")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no option {name!r}")

    def hash(self) -> str:
        """Returns a key of all options for Triton's cache."""
        text = "_".join(f"{name}-{value}" for name, value in sorted(self.__dict__.items()))
        return hashlib.sha256(text.encode()).hexdigest()
