"""Kernels that are above Triton's, each with its reason: the table of a page, and the check that the lists are complete."""

from collections.abc import Mapping

from tables import row

# For each target, the ratios of the kernels above.
Ratios = Mapping[str, Mapping[str, float]]
Reasons = Mapping[str, Mapping[str, str]]


def above_table(ratios: Ratios, reasons: Reasons) -> list[str]:
    """The kernels above, the greatest ratio first, and the reasons."""
    lines = [row("case", *ratios, "reason"), "|---|" + "--:|" * len(ratios) + "---|"]
    names = {name for found in ratios.values() for name in found}
    for name in sorted(names, key=lambda name: (-max(found.get(name, 0) for found in ratios.values()), name)):
        cells = [f"{found[name]:.2f}" if name in found else "-" for found in ratios.values()]
        given = dict.fromkeys(reasons[target].get(name, "") for target, found in ratios.items() if name in found)
        lines.append(row(f"`{name}`", *cells, "; ".join(given)))
    return lines


def check_reasons(ratios: Ratios, reasons: Reasons) -> list[str]:
    """Kernels above that have no reason, and kernels with a reason that are not above."""
    found = []
    for target, above in ratios.items():
        listed = set(reasons[target])
        found += [f"{target}: {name} is above and has no reason" for name in sorted(set(above) - listed)]
        found += [f"{target}: {name} is not above, remove its reason" for name in sorted(listed - set(above))]
    return found
