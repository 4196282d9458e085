"""The target of a driver, and architectures as Triton and torch name them on a GPU."""

from __future__ import annotations

import re
from dataclasses import dataclass

from triton.backends.compiler import GPUTarget

from tilewright.targets import target

# Tensors of the emulator are torch's tensors of the CPU. Programs take the name of the driver's backend as torch's device.
BACKEND = "cpu"


@dataclass(frozen=True)
class EmulatedTarget(GPUTarget):
    """A target as Triton's drivers answer it, and the name of its description."""

    name: str


def emulated_target(name: str) -> EmulatedTarget:
    """Returns the target of a name: its architecture is what Triton's driver of the GPU answers."""
    one = target(name)
    architecture = triton_architecture(one.architecture)[1]
    return EmulatedTarget(BACKEND, architecture, one.lanes, name)


def triton_architecture(architecture: str) -> tuple[str | None, int | str]:
    """Returns the name of Triton's backend for an architecture, if there is one, and its name of the architecture."""
    if match := re.match(r"sm_(\d+)", architecture):
        return "cuda", int(match[1])
    return "hip" if architecture.startswith("gfx") else None, architecture


def device_capability(architecture: str) -> tuple[int, int]:
    """Returns what `torch.cuda.get_device_capability` answers on a GPU; (0, 0) for those that it does not serve."""
    if match := re.match(r"(?:sm_(\d+)(\d)|gfx(\d+)(\d)[0-9a-f]$)", architecture):
        return int(match[1] or match[3]), int(match[2] or match[4])
    return 0, 0
