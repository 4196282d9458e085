"""Warps and stages of a case, the same for both sides of a comparison."""

import json
import pathlib

# The most stages on AMD GPUs, which is Triton's default there.
AMD_STAGES = 2


def read_launch(case: pathlib.Path, for_amd: bool = False) -> dict[str, int]:
    """The options of a case."""
    launch = json.loads(case.with_suffix(".json").read_text())
    options = {name: launch[name] for name in ("num_warps", "num_stages") if name in launch}
    if for_amd and "num_stages" in options:
        options["num_stages"] = min(options["num_stages"], AMD_STAGES)
    return options
