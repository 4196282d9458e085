"""The known GPUs."""

from __future__ import annotations

import json
from dataclasses import dataclass

from .session import session


@dataclass(frozen=True)
class Target:
    """A GPU model, with the limits that a launch must keep."""

    name: str
    model: str
    architecture: str
    # Lanes of a warp.
    lanes: int
    # Bytes of shared memory of a block.
    shared_bytes: int
    lanes_per_block: int
    registers_per_lane: int
    registers_per_block: int
    # SMs, CUs or Xe cores.
    compute_units: int


def targets() -> list[str]:
    """Returns the names of all targets."""
    return session().targets()


def target(name: str) -> Target:
    """Returns a target by its name.

    >>> target("mi300x").lanes
    64
    """
    fields = json.loads(session().target(name))
    limits = fields["limits"]
    return Target(
        name=fields["name"],
        model=fields["product"],
        architecture=fields["architecture"],
        lanes=fields["lanes"]["default"],
        shared_bytes=fields["shared"]["bytes"],
        lanes_per_block=limits["lanes_per_block"],
        registers_per_lane=limits["registers_per_lane"],
        registers_per_block=limits["registers_per_block"],
        compute_units=(fields.get("throughput") or {}).get("compute_units", 1),
    )
