"""Whole programs beside Triton: what is left in the code of the same kernels, and how long compiling takes.

    python3 conformance/peers/programs_beside_triton.py --cases DIR [--target NAME]... [--only TEXT] [--detail]
                                                        [--times N] [--page] [--keep FOLDER]

DIR has cases (docs/tile-ir.md) with `NAME.triton.json` beside each: what Triton 3.9.0 makes of the case for four
targets. Ours are compiled by the program `programs` of this package, built here in the profile of the benches;
its assembly is counted in the same classes. Where `ptxas` is along PATH, it says the registers and spills.

With `--times N` compile times are measured, on both sides in this run: each case N times in a warm process, the
least of each stage. That needs Triton's wheel in this Python:

    python3 -m venv triton-venv && triton-venv/bin/pip install triton==3.9.0

`--page` puts the tables into docs/results.md; without it they are printed. `--detail` lists cases
by how much more ours takes, `--keep` leaves assembly and kernels in a folder.

Not part of the tests: it needs a package and data that the build does not.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from program_counts import TARGETS, ours, pairs, theirs

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "results.md"


def build():
    """Our program."""
    command = ["cargo", "build", "--quiet", "--profile", "bench", "-p", "tilewright-peers", "--bin", "programs"]
    if subprocess.run(command, cwd=HERE).returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    told = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=HERE, capture_output=True, text=True)
    return pathlib.Path(json.loads(told.stdout)["target_directory"]) / "release" / "programs"


def triton_times(cases, target, times, only):
    """Seconds of Triton's stages for each case; without those that it does not compile."""
    files = sorted(str(file) for file in cases.glob("*.ttir") if only in str(file))
    command = [sys.executable, str(HERE / "triton_times.py"), TARGETS[target], str(times), *files]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"Triton ended: {done.stderr[-2000:]}")
    return {name: stages for name, stages in map(json.loads, done.stdout.splitlines()) if stages}


def line(*cells):
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |"


def counts(compared):
    """What is left in the code."""
    lines = [line("target", "kernels", "cases", "loads ahead", "conversions, ours", "Triton's", "its operand loads", "cases with more",
                  "shared bytes, ours", "Triton's", "shared instructions, ours", "Triton's"), "|---|---|" + "--:|" * 10]
    for target, both in compared.items():
        for what, loops in [("without loops", False), ("with loops", True)]:
            some = [pair for pair in both if pair.loops == loops]
            total = lambda of: sum(of(pair) for pair in some)
            more = sum(pair.conversions > pair.other["converts"] + pair.of_factors for pair in some)
            lines.append(line(target, what, len(some), total(lambda pair: pair.own["ahead"]), total(lambda pair: pair.conversions), total(lambda pair: pair.other["converts"]),
                              total(lambda pair: pair.of_factors), more, total(lambda pair: pair.own["shared_bytes"]),
                              total(lambda pair: pair.other["shared_bytes"]), total(lambda pair: pair.own["shared"]),
                              total(lambda pair: pair.other["shared"])))
    return lines


def alone(compared):
    """Cases with more conversions than Triton has beside those of factors."""
    lines = [line("case", "targets", "conversions, ours", "Triton's", "its operand loads"), "|---|---|" + "--:|" * 3]
    found = {}
    for target, both in compared.items():
        for pair in both:
            if pair.conversions > pair.other["converts"]:
                found.setdefault((pair.name, pair.conversions, pair.other["converts"], pair.of_factors), []).append(target)
    for (name, *numbers), targets in sorted(found.items()):
        lines.append(line(f"`{name}`", ", ".join(targets), *numbers))
    return lines


def above(compared):
    """Cases without loops whose shared bytes or instructions are more than Triton's."""
    lines = [line("case without loops", "targets", "shared bytes, ours", "Triton's", "shared instructions, ours", "Triton's"),
             "|---|---|" + "--:|" * 4]
    found = {}
    for target, both in compared.items():
        for pair in both:
            sides = [(side["shared_bytes"], side["shared"]) for side in (pair.own, pair.other)]
            if not pair.loops and any(own > other for own, other in zip(*sides)):
                found.setdefault((pair.name, *sides[0], *sides[1]), []).append(target)
    for (name, own_bytes, own, other_bytes, other), targets in sorted(found.items()):
        lines.append(line(f"`{name}`", ", ".join(targets), own_bytes, other_bytes, own, other))
    return lines


def registers(compared):
    """What the vendor's assembler says."""
    lines = [line("target", "registers of all cases, ours", "Triton's", "cases that spill, ours", "Triton's"), "|---|--:|--:|--:|--:|"]
    for target, both in compared.items():
        both = [pair for pair in both if pair.own["ptxas"]]
        if both:
            lines.append(line(target, sum(pair.own["ptxas"]["registers"] for pair in both), sum(pair.other["registers"] for pair in both),
                              sum(pair.spills > 0 for pair in both), sum(pair.other["spills"] > 0 for pair in both)))
    return lines


def times(compared, taken):
    """How many times faster ours is, of cases that both sides compile."""
    lines = [line("target", "cases", "text to LLVM IR, median", "a tenth below", "least", "code generator, median",
                  "our stages: read to shape", "layouts", "kernel", "LLVM"), "|---|" + "--:|" * 9]
    for target, both in compared.items():
        faster, code, shares = [], [], [0.0] * 4
        for pair in both:
            own, other = pair.own["seconds"], taken[target].get(pair.name)
            if not other:
                continue
            parts = [own["read"] + own["import"] + own["shape"], own["layouts"], own["kernel"] + own["math"] + own["verify"], own["llvm"]]
            shares = [share + part / sum(parts) for share, part in zip(shares, parts)]
            faster.append((other["ttgir"] + other["llir"]) / sum(parts))
            if own["all"] > own["llvm"]:
                code.append(other["code"] / (own["all"] - own["llvm"]))
        lines.append(line(target, len(faster), f"{statistics.median(faster):.1f}", f"{statistics.quantiles(faster, n=10)[0]:.1f}",
                          f"{min(faster):.1f}", f"{statistics.median(code):.1f}", *(f"{100 * share / len(faster):.0f} %" for share in shares)))
    return lines


def detail(target, both):
    """Cases by how much more ours takes, for whoever looks for the reason."""
    told = lambda side, own: f"{side['shared_bytes']} B, {side['shared']} instructions, {own}"
    for what, difference in [
        ("conversions", lambda pair: pair.conversions - pair.other["converts"]),
        ("shared bytes", lambda pair: pair.own["shared_bytes"] - pair.other["shared_bytes"]),
        ("shared instructions", lambda pair: pair.own["shared"] - pair.other["shared"]),
        ("spills", lambda pair: pair.spills - pair.other["spills"]),
    ]:
        print(f"{target}: {what}")
        for pair in sorted(both, key=lambda pair: (pair.loops, -difference(pair))):
            if difference(pair) > 0:
                print(f"  {difference(pair):+6} {'loops' if pair.loops else '     '} {pair.name}: ours {told(pair.own, pair.conversions)}; "
                      f"Triton {told(pair.other, pair.other['converts'])}+{pair.other['loads']}")


def put(tables):
    """Puts each table between its marks."""
    text = PAGE.read_text()
    for name, lines in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = before + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1]
    PAGE.write_text(text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", action="append", choices=TARGETS)
    arguments.add_argument("--only", default="", metavar="TEXT", help="only cases whose names have it")
    arguments.add_argument("--times", type=int, default=0, metavar="N")
    arguments.add_argument("--detail", action="store_true")
    arguments.add_argument("--page", action="store_true")
    arguments.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    chosen = arguments.parse_args()
    program = build()
    compared, left_out, taken = {}, [], {}
    with tempfile.TemporaryDirectory() as temporary:
        for target in chosen.target or TARGETS:
            folder = (chosen.keep or pathlib.Path(temporary)) / target
            own = ours(program, target, chosen.cases, folder, chosen.times, chosen.only)
            if chosen.times:
                taken[target] = triton_times(chosen.cases, target, chosen.times, chosen.only)
            compared[target], without = pairs(chosen.cases, own, theirs(chosen.cases, target))
            left_out.append(f"not compared on {target}: {', '.join(without) or 'none'}")
            if chosen.detail:
                detail(target, compared[target])
    tables = {"counts": counts(compared), "alone": alone(compared), "above": above(compared), "registers": registers(compared)}
    if chosen.times:
        tables["times"] = times(compared, taken)
    print("\n".join(left_out))
    if chosen.page:
        put(tables)
    else:
        print("\n\n".join("\n".join(lines) for lines in tables.values()))


if __name__ == "__main__":
    main()
