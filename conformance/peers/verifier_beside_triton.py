"""Compares the verdicts of `tilewright` and of Triton's verifier on a folder of programs.

    python3 verifier_beside_triton.py FOLDER COMMAND [--verdicts FILE] [--differences]

FOLDER has `.mlir` files in Triton's dialects, in any depth. Triton 3.9.0 (`pip install triton==3.9.0` for this Python)
parses and verifies each file in a process of its own, so that a crash ends nothing else; `--verdicts FILE` reads
Triton's verdicts from a file instead (one JSON object per line: name, verdict, message) and writes it if it does not
exist. COMMAND is the command `tilewright`, which reads and verifies each file (`compile --emit program`) for the target
that the module names, or whose layouts and operations the text has. Whether the target supports the program is another
question: a verified program counts as accepted.

Prints the counts by folder and dialect: programs with equal verdicts, programs that only Triton rejects ("missed"),
programs that only `tilewright` rejects ("refused"), and crashes. `--differences` lists them with the message.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess

TARGETS = {
    "cuda:80": "a100", "cuda:90": "h100", "cuda:100": "b200", "cuda:120": "rtx5090",
    "hip:gfx908": "mi100", "hip:gfx90a": "mi250", "hip:gfx942": "mi300x", "hip:gfx950": "mi355x",
    "hip:gfx1100": "rx7900xtx", "hip:gfx1200": "rx9070xt", "hip:gfx1201": "rx9070xt", "hip:gfx1250": "rx9070xt",
}
# Targets of modules that name none, by a word of the text.
TARGETS_BY_WORD = {"amdg.": "mi300x", "amd_mfma": "mi300x", "amd_wmma": "rx9070xt"}
DEFAULT_TARGET = "b200"
SECONDS = 120


def parse(file):
    """Module of a file, with all of Triton's dialects."""
    from triton._C.libtriton import amd, ir, nvidia

    context = ir.context()
    ir.load_dialects(context)
    nvidia.load_dialects(context)
    amd.load_dialects(context)
    module = ir.parse_mlir_module(str(file), context)
    module.context = context
    return module


def run_in_child(work):
    """Calls `work` with a pipe in a process of its own, which ends with the returned status; output and exit status."""
    import triton._C.libtriton  # noqa: F401 (once, before the processes divide)

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        status = 1
        try:
            status = work(writer)
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        output = pipe.read()
    return output, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def triton_verdict(file):
    """Verdict ("accepts", "rejects", "crash") and first line of the diagnostic."""

    def verify(writer):
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        try:
            return 0 if parse(file).verify() else 3
        except Exception:
            return 3

    output, code = run_in_child(verify)
    lines = output.decode(errors="replace").splitlines()
    message = next((line for line in lines if "error" in line), "")
    return {0: "accepts", 3: "rejects"}.get(code, "crash"), message.replace(str(file), file.name)


def tilewright_verdict(command, file):
    """Verdict and first line of the error message."""
    text = file.read_text()
    module_target = re.search(r'ttg\.target = "([^"]*)"', text)
    by_word = next((target for word, target in TARGETS_BY_WORD.items() if word in text), DEFAULT_TARGET)
    target = TARGETS.get(module_target[1] if module_target else "", by_word)
    warps = [] if '"ttg.num-warps"' in text else ["--warps", "4"]
    line = [command, "compile", "--target", target, *warps, "--emit", "program", str(file)]
    try:
        result = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "crash", f"no answer within {SECONDS} seconds"
    message = next((line for line in result.stderr.splitlines() if "rror" in line or "panicked" in line), "")
    return {0: "accepts", 1: "rejects", 2: "rejects"}.get(result.returncode, "crash"), message


def triton_verdicts(files, folder, file):
    """Verdicts by name, read from `file` if it exists, else by Triton."""
    if file and file.exists():
        return {entry["name"]: entry for entry in map(json.loads, file.read_text().splitlines())}
    verdicts = {}
    for path in files:
        verdict, message = triton_verdict(path)
        name = str(path.relative_to(folder))
        verdicts[name] = {"name": name, "verdict": verdict, "message": message}
    if file:
        file.write_text("".join(json.dumps(entry) + "\n" for entry in verdicts.values()))
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("command")
    parser.add_argument("--verdicts", type=pathlib.Path)
    parser.add_argument("--differences", action="store_true")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.rglob("*.mlir"))
    expected = triton_verdicts(files, arguments.folder, arguments.verdicts)
    counts = collections.defaultdict(collections.Counter)
    for path in files:
        name = str(path.relative_to(arguments.folder))
        theirs = expected[name]
        verdict, message = tilewright_verdict(arguments.command, path)
        different = {"accepts": "missed", "rejects": "refused"}.get(verdict, "crash")
        pair = "equal" if verdict == theirs["verdict"] else different
        counts[path.parent.name, path.name.split("_")[0]][pair] += 1
        if arguments.differences and pair != "equal":
            print(f"{pair} {name}: {(theirs['message'] if pair == 'missed' else message)[:200]}", flush=True)
    kinds = ["equal", "missed", "refused", "crash"]
    print(f"{'folder':10} {'dialect':8}" + "".join(f"{kind:>9}" for kind in kinds))
    for (folder, dialect), count in sorted(counts.items()):
        print(f"{folder:10} {dialect:8}" + "".join(f"{count[kind]:>9}" for kind in kinds))
    total = sum(counts.values(), collections.Counter())
    print(f"{'all':10} {'':8}" + "".join(f"{total[kind]:>9}" for kind in kinds))


if __name__ == "__main__":
    main()
