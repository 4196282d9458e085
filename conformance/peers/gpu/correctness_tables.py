"""Tables of correctness: contents of buffers, reports of `compute-sanitizer`, and errors of the large programs."""

from typing import Any

from tables import row

COMPILERS = {"ours": "Tilewright", "triton": "Triton"}
# Our relative error may be this much of Triton's.
ALLOWED_ERROR = 1.1


def state_result(result: dict[str, Any]) -> str:
    """The column of a result."""
    if "failed" in result:
        return "launch failed"
    return "wrong" if result["wrong"] or result["wrong_later"] else "right"


def results_of(results: dict[str, Any], side: str) -> dict[str, dict[str, Any]]:
    """The results of one compiler by case."""
    pairs = ((key.split(" ", 1), result) for key, result in results["cases"].items())
    return {name: result for (one, name), result in pairs if one == side}


def kernels_table(results: dict[str, Any]) -> list[str]:
    """How many cases of each compiler are right."""
    columns = ("right", "wrong", "launch failed")
    lines = [row("compiler", *columns), "|---|--:|--:|--:|"]
    for side, compiler in COMPILERS.items():
        states = [state_result(result) for result in results_of(results, side).values()]
        lines.append(row(compiler, *(states.count(column) for column in columns)))
    return lines


def list_wrong(results: dict[str, Any]) -> list[str]:
    """The cases that are not right, and how many give the same bytes in each launch."""
    lines = []
    for side, compiler in COMPILERS.items():
        found = results_of(results, side)
        for name, result in found.items():
            if state_result(result) != "right":
                reason = result.get("failed") or result["wrong"] or f"a later launch: {result['wrong_later']}"
                lines.append(f"- `{name}`, {compiler}: {reason.splitlines()[0][:200]}")
        same = sum(result.get("same", False) for result in found.values())
        lines.append(f"- {compiler}: {same} of {len(found)} kernels leave the same bytes after each of 31 launches.")
    return lines


def sanitizer_table(results: dict[str, Any]) -> list[str]:
    """Counts of the tools on our kernels."""
    lines = [row("`compute-sanitizer`", "kernels", "errors or hazards"), "|---|--:|--:|"]
    for tool in ("memcheck", "racecheck"):
        found = results.get(tool, {})
        lines.append(row(f"`{tool}`", f"{found.get('ran', 0)} of {found.get('of', 0)}", found.get("errors", "-")))
    return lines


def list_errors(results: dict[str, Any]) -> list[str]:
    """How the errors of large programs compare with Triton's."""
    errors = {name: result["errors"] for name, result in results["large"].items() if "errors" in result}
    above = [name for name, pair in errors.items() if pair["ours"] > ALLOWED_ERROR * pair["triton"]]
    counts = f"{len(errors)} of {len(results['large'])} programs ran"
    lines = [f"- {counts}; the error of {len(above)} is more than {ALLOWED_ERROR} times Triton's."]
    lines += [f"- `{name}`: relative error {errors[name]['ours']:.2g}, Triton {errors[name]['triton']:.2g}" for name in above]
    failed = {name: result["failed"] for name, result in results["large"].items() if "failed" in result}
    return lines + [f"- `{name}`: {reason.splitlines()[0][:200]}" for name, reason in failed.items()]
