"""Tables of times: the kernels of the cases, and the large programs."""

import dataclasses
import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from gpu.kernel_groups import NAMES, find_group
from tables import row

# Kernels above and below are counted.
ABOVE, BELOW = 1.2, 0.83
EXTREMES = 10
LARGE_GROUPS = ("matrix multiplies", "attention", "other")


@dataclasses.dataclass(frozen=True)
class Pair:
    """A program that both compilers run: its group, and the results of both."""

    name: str
    group: str
    ours: dict[str, Any]
    triton: dict[str, Any]

    @property
    def ratio(self) -> float:
        """Our time by Triton's."""
        return float(self.ours["us"] / self.triton["us"])


def pair_kernels(results: dict[str, Any], section: str) -> Iterator[Pair]:
    """The cases that have times of both compilers."""
    found = results.get(section, {})
    for key, ours in found.items():
        side, _, name = key.partition(" ")
        triton = found.get(f"triton {name}", {})
        if side == "ours" and ours.get("us") and triton.get("us"):
            yield Pair(name, find_group(results["programs"][name]["kernel"]), ours, triton)


def pair_large(results: dict[str, Any]) -> list[Pair]:
    """The large programs, the greatest ratio first."""
    programs, found = results["programs"], results["large"]
    pairs = [
        Pair(name, programs[name]["group"], {"us": one["us"]["ours"]}, {"us": one["us"]["triton"]})
        for name, one in found.items()
        if "us" in one
    ]
    return sorted(pairs, key=lambda pair: -pair.ratio)


def count_above(pairs: Iterable[Pair]) -> int:
    """How many pairs are clearly slower."""
    return sum(pair.ratio > ABOVE for pair in pairs)


def list_events(results: dict[str, Any]) -> list[str]:
    """The mean ratio of the times by events."""
    pairs = list(pair_kernels(results, "cases"))
    if not pairs:
        return []
    mean = statistics.geometric_mean(pair.ratio for pair in pairs)
    return [f"- events around a launch: {len(pairs)} kernels, geometric mean {mean:.2f} (Tilewright by Triton)"]


def alone_table(results: dict[str, Any]) -> list[str]:
    """The kernels alone, by group."""
    pairs = list(pair_kernels(results, "alone"))
    names = ("cases", "geometric mean", f"above {ABOVE}", f"below {BELOW}", "worst", "case")
    lines = [row("group", *names), "|---|--:|--:|--:|--:|--:|---|"]
    for group in (*NAMES, "all"):
        some = [pair for pair in pairs if group in (pair.group, "all")]
        if some:
            worst = max(some, key=lambda pair: pair.ratio)
            mean, below = statistics.geometric_mean(pair.ratio for pair in some), sum(pair.ratio < BELOW for pair in some)
            cells = [f"{mean:.2f}", count_above(some), below, f"{worst.ratio:.2f}", f"`{worst.name}`"]
            lines.append(row(group, len(some), *cells))
    return lines


def extremes_table(results: dict[str, Any], title: str, *, is_worst: bool) -> list[str]:
    """The kernels with the greatest or the least ratios."""
    counters = ("instructions", "conflicts")
    lines = [row(title, "us", "Triton", "ratio", "instructions", "Triton", "shared conflicts", "Triton"), "|---|" + "--:|" * 7]
    pairs = sorted(pair_kernels(results, "alone"), key=lambda pair: -pair.ratio if is_worst else pair.ratio)
    for pair in pairs[:EXTREMES]:
        counts = [int(side.get(counter, 0)) for counter in counters for side in (pair.ours, pair.triton)]
        times = [f"{side['us']:.2f}" for side in (pair.ours, pair.triton)]
        lines.append(row(f"`{pair.name}`", *times, f"{pair.ratio:.2f}", *counts))
    return lines


def state_rate(work: dict[str, int], us: float) -> str:
    """TFLOP/s or GB/s."""
    return f"{work['operations'] / us / 1e6:,.0f} T" if "operations" in work else f"{work['bytes'] / us / 1e3:,.0f} G"


def large_table(results: dict[str, Any]) -> list[str]:
    """All large programs."""
    lines = [row("program", "us", "Triton", "ratio", "rate", "Triton", "library us"), "|---|" + "--:|" * 6]
    for pair in pair_large(results):
        work, library = results["programs"][pair.name]["work"], results["large"][pair.name]["us"].get("library")
        both = [side["us"] for side in (pair.ours, pair.triton)]
        rates = [state_rate(work, us) for us in both]
        times = [f"{us:.0f}" for us in both]
        lines.append(row(f"`{pair.name}`", *times, f"{pair.ratio:.2f}", *rates, f"{library:.0f}" if library else ""))
    return lines


def list_groups(results: dict[str, Any]) -> list[str]:
    """The mean ratio of each group of large programs."""
    pairs, lines = pair_large(results), []
    for group in (*LARGE_GROUPS, "all"):
        some = [pair for pair in pairs if group in (pair.group, "all")]
        if not some:
            continue
        mean = statistics.geometric_mean(pair.ratio for pair in some)
        lines.append(f"- {group}: {len(some)} programs, geometric mean {mean:.2f}, above {ABOVE}: {count_above(some)}")
    return lines
