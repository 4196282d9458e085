"""Tilewright's layout core beside Triton's own library, on the same layouts in one run.

    python3 conformance/peers/beside_triton.py [--json FILE]

Triton's library is the C++ behind its wheel, called through its Python binding; without the wheel
this says how to get it. Ours is timed by `tilewright-peers`, which is built here in the profile of
the benches. Both sides are timed the same way: batches of calls of some microseconds, and the best
batch counts. Triton keeps the layouts that it has built and hands out the same one when it is asked
again, so its families have two columns: asked for the first time, in a context that has built
nothing yet, and asked again. A layout on which the two sides differ is an error, not a row.

Not part of the tests: it needs a package that the build does not.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
WITHOUT_THE_WHEEL = """Triton's wheel is not importable from this Python. To get it:
    python3 -m venv triton-venv && triton-venv/bin/pip install triton==3.9.0
    triton-venv/bin/python conformance/peers/beside_triton.py"""

try:
    import triton
    from triton._C.libtriton import gluon_ir, ir
    from triton._C.libtriton.linear_layout import LinearLayout
    from triton.experimental.gluon.language import _layouts as gluon
    from triton.experimental.gluon.language.amd import _layouts as gluon_amd
except ImportError as missing:
    sys.exit(f"{WITHOUT_THE_WHEEL}\n({missing})")

CLASSES = {
    "blocked": gluon.BlockedLayout,
    "slice": gluon.SliceLayout,
    "linear": gluon.DistributedLinearLayout,
    "dot_operand": gluon.DotOperandLayout,
    "swizzled_shared": gluon.SwizzledSharedLayout,
    "nvidia_mma": gluon.NVMMADistributedLayout,
    "nvmma_shared": gluon.NVMMASharedLayout,
    "amd_mfma": gluon_amd.AMDMFMALayout,
    "amd_wmma": gluon_amd.AMDWMMALayout,
}
LONG = 0.4
BATCH = 20e-6


def nanoseconds(work):
    """Nanoseconds of one call in the best batch."""
    best, calls, start = float("inf"), 1, time.perf_counter()
    while time.perf_counter() - start < LONG:
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        took = time.perf_counter() - begin
        best = min(best, took / calls)
        if took < BATCH:
            calls *= 2
    return best * 1e9


def operations():
    """Triton's time of each operation, on the layouts of `Operands` in src/lib.rs."""
    over = lambda ins: LinearLayout.from_bases(ins, ["dim0", "dim1"], [128, 64], True)
    rows = over([("register", [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0], [64, 0]]),
                 ("lane", [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]]), ("warp", [[4, 0], [8, 0]])])
    columns = over([("register", [[1, 0], [2, 0], [0, 4], [0, 8], [0, 16], [0, 32]]),
                    ("lane", [[4, 0], [8, 0], [16, 0], [0, 1], [0, 2]]), ("warp", [[32, 0], [64, 0]])])
    blocks = LinearLayout.identity_1d(4, "block", "dim0")
    inverse = columns.invert()
    point = {"register": 5, "lane": 13, "warp": 2}
    return {
        "apply": nanoseconds(lambda: rows.apply(point)),
        "compose": nanoseconds(lambda: rows.compose(inverse)),
        "invert": nanoseconds(rows.invert),
        "invert_and_compose": nanoseconds(lambda: rows.invert_and_compose(columns)),
        "pseudoinvert": nanoseconds(rows.pseudoinvert),
        "direct_sum": nanoseconds(lambda: rows * blocks),
        "(a call that does nothing)": nanoseconds(lambda: rows.num_in_dims),
    }


def spelled(params):
    """The Gluon object of a layout's parameters; None where Triton has no such family."""
    rest = {key: value for key, value in params.items() if key not in ("kind", "parent")}
    if params["kind"] not in CLASSES:
        return None
    if "parent" in params:
        rest["parent"] = spelled(params["parent"])
        if rest["parent"] is None:
            return None
    return CLASSES[params["kind"]](**rest)


def fresh():
    """A builder in a context that has built nothing yet."""
    context = ir.context()
    ir.load_dialects(context)
    return context, gluon_ir.GluonOpBuilder(context)


def bases_of(layout):
    """The bases of what Triton gives back, under the names of the input dims."""
    names = {"register": "reg_bases", "lane": "lane_bases", "warp": "warp_bases"}
    if hasattr(layout, "offset_bases"):
        names = {"offset": "offset_bases"}
    return {dim: [list(basis) for basis in getattr(layout, name)] for dim, name in {**names, "block": "block_bases"}.items()}


def families(rows, ours):
    """For each layout, what Triton takes for the first time and again; None where it has no such family."""
    found = {}
    for row, own in zip(rows, ours):
        layout = spelled(row["params"])
        if layout is None:
            found[row["name"]] = None
            continue
        first = float("inf")
        for _ in range(20):
            context, builder = fresh()
            attribute = layout._to_ir(builder)
            begin = time.perf_counter()
            built = builder.to_linear_layout(attribute, row["shape"])
            first = min(first, (time.perf_counter() - begin) * 1e9)
        again = nanoseconds(lambda: builder.to_linear_layout(attribute, row["shape"]))
        expected = {dim: bases for dim, bases in bases_of(built).items()}
        if expected != own["layout"]["bases"]:
            sys.exit(f"{row['name']}: the two sides differ\n  Triton     {expected}\n  Tilewright {own['layout']['bases']}")
        found[row["name"]] = (first, again)
    return found


def tilewright():
    """Our times, as `tilewright-peers` prints them."""
    command = ["cargo", "run", "--quiet", "--profile", "bench", "-p", "tilewright-peers", "--bin", "tilewright-peers"]
    done = subprocess.run(command, cwd=HERE.parent.parent, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed")
    return json.loads(done.stdout)


def table(ours, theirs, built):
    """The lines of the table, in Markdown."""
    lines = ["| operation | Triton (ns) | Tilewright (ns) | times faster |", "|---|--:|--:|--:|"]
    for name, their in theirs.items():
        own = ours["operations"].get(name)
        lines.append(f"| {name} | {their:,.0f} | " + (f"{own:,.1f} | {their / own:,.0f} |" if own else "| |"))
    lines += ["", "| layout | Triton, first time (ns) | again (ns) | Tilewright (ns) | times faster, first | again |",
              "|---|--:|--:|--:|--:|--:|"]
    for own in ours["families"]:
        took, times = own["nanoseconds"], built[own["name"]]
        if times is None:
            lines.append(f"| {own['name']} | no such family | | {took:,.0f} | | |")
        else:
            first, again = times
            lines.append(f"| {own['name']} | {first:,.0f} | {again:,.0f} | {took:,.0f} | {first / took:,.0f} | {again / took:,.0f} |")
    return lines


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", metavar="FILE", help="write the times there as well")
    chosen = arguments.parse_args()
    rows = json.loads((HERE / "layouts.json").read_text())
    ours = tilewright()
    theirs = operations()
    built = families(rows, ours["families"])
    print(f"Triton {triton.__version__}, Python {sys.version.split()[0]}\n")
    print("\n".join(table(ours, theirs, built)))
    if chosen.json:
        pathlib.Path(chosen.json).write_text(json.dumps({"tilewright": ours, "triton": {"operations": theirs, "families": built}}, indent=1))


if __name__ == "__main__":
    main()
