"""Prepares the comparison with Triton on a GPU: one folder with machine code, launches and data, without a GPU.

    PYTHONPATH=conformance/peers python3 -m gpu.prepare COMMAND FOLDER --cases DIR --target NAME [--ptx FOLDER] [--only TEXT]

COMMAND is `tilewright`; DIR has cases (docs/tile-ir.md). The Python has Triton's wheel (`pip install triton==3.9.0`) and NumPy.
Both compilers get the same Triton IR, warps and stages, and the same `ptxas`, the newest one of the wheel. `--ptx` keeps PTX
and Triton IR of the large programs in a folder, and reuses the PTX of Triton that is there. `--only` takes programs whose names
contain TEXT. FOLDER then has all that a machine with a GPU needs: `python3 FOLDER/run.py RESULTS.json`.
"""

import argparse
import concurrent.futures
import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from gpu.launch_data import encode_number, own_launch, triton_launch
from machine_code_beside_triton import compile_own
from record import VERSION
from tables import HERE as PEERS
from triton_code import PROCESSORS, assembler_version, compile_by_triton, run_assembler

DEVICE_SCRIPTS = PEERS / "gpu" / "device"
# Targets, and the target of `triton_code.py` that has the same processor.
TARGETS = {"h100": "h100", "h200": "h100"}
# The file that `tilewright compile --dump` writes the kernel IR to.
KERNEL_DUMP = "4-kernel.kernel"
PROCESSES = 2
# Sets of large programs, whose tensors are made on the device.
LARGE_SETS = ("large", "sweep")
# Cycles that the kernel of the clock spins: 50 ms.
SPIN_CYCLES = 100_000_000


class Preparation:
    """The folder in the making."""

    def __init__(self, command: str, target: str, folder: pathlib.Path, ptx: pathlib.Path) -> None:
        self.command, self.target, self.folder, self.ptx = command, target, folder, ptx
        self.code_target = TARGETS[target]
        for name in ("code", "buffers"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def compile_triton(self, cases: list[pathlib.Path]) -> None:
        """Writes the PTX of Triton that is missing."""
        missing = [case for case in cases if not (self.ptx / f"{case.stem}.ptx").exists()]
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            parts = [missing[start::PROCESSES] for start in range(PROCESSES)]
            list(pool.map(lambda part: compile_by_triton(self.code_target, part, self.ptx), parts))

    def build_own(self, file: pathlib.Path, case: dict[str, Any]) -> dict[str, Any]:
        """Our code of a program."""
        dump = self.ptx / f"{file.stem}.dump"
        ptx = compile_own(self.command, self.target, file, self.ptx, "--dump", str(dump))
        return self.assemble(ptx, "ours") | own_launch(case, dump / KERNEL_DUMP)

    def build_triton(self, file: pathlib.Path, case: dict[str, Any]) -> dict[str, Any]:
        """Triton's code of a program."""
        ptx = self.ptx / f"{file.stem}.ptx"
        if not ptx.exists():
            raise ValueError("Triton does not compile it")
        return self.assemble(ptx, "triton") | triton_launch(case, json.loads(ptx.with_suffix(".launch.json").read_text()))

    def assemble(self, ptx: pathlib.Path, side: str) -> dict[str, Any]:
        """The machine code of a text, as a file of the folder."""
        cubin, resources = run_assembler(ptx, PROCESSORS[self.code_target])
        kept = pathlib.Path("code") / f"{ptx.name.split('.')[0]}.{side}.cubin"
        shutil.move(cubin, self.folder / kept)
        return {"cubin": str(kept), **resources}

    def build(self, file: pathlib.Path) -> dict[str, Any]:
        """A program with the code of both compilers, or the reasons why one has none."""
        case = json.loads(file.with_suffix(".json").read_text())
        found = {"kernel": case.get("kernel", case["entry"])}
        for side, build in (("ours", self.build_own), ("triton", self.build_triton)):
            try:
                found[side] = build(file, case)
            except ValueError as error:
                found[side] = {"error": str(error)}
                print(f"{file.stem}: {error}", file=sys.stderr)
        found["buffers"] = case["buffers"]
        return found | {key: case[key] for key in ("group", "reference", "work", "library") if key in case}

    def build_all(self, files: list[pathlib.Path]) -> dict[str, Any]:
        """All programs by name."""
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            return dict(zip([file.stem for file in files], pool.map(self.build, files)))

    def keep_buffers(self, cases: pathlib.Path, name: str, buffers: dict[str, Any]) -> dict[str, Any]:
        """Writes the contents of a case's buffers before and after the run; returns the buffers with the names of the files."""
        kept = {}
        for key, buffer in buffers.items():
            files = {when: f"buffers/{name}.{when}.{key}.bin" for when in ("before", "after")}
            (self.folder / files["before"]).write_bytes(read_before(cases, buffer))
            if "expected" in buffer:
                (self.folder / files["after"]).write_bytes((cases / buffer["expected"]).read_bytes())
            else:
                # An input must stay as it is; the contents of scratch do not matter.
                files["after"] = files["before"] if buffer["role"] == "input" else ""
            tolerance = {limit: buffer.get("tolerance", {}).get(limit, 0) for limit in ("atol", "rtol")}
            kept[key] = {"dtype": buffer["dtype"], "bytes": buffer["bytes"], "tolerance": tolerance, **files}
        return kept


def read_before(cases: pathlib.Path, buffer: dict[str, Any]) -> bytes:
    """The contents of a buffer before the run."""
    if buffer["role"] != "output":
        return (cases / str(buffer["input"])).read_bytes()
    element = encode_number(buffer["fill"], buffer["dtype"])
    return element * (int(buffer["bytes"]) // len(element))


def build_clocks(preparation: Preparation) -> dict[str, Any]:
    """The kernel that reads the clock."""
    count = {"kind": "scalar", "size": 8, "bits": SPIN_CYCLES}
    arguments = [{"kind": "buffer", "size": 8, "buffer": "result"}, count]
    launch = {"entry": "read_clocks", "grid": [1, 1, 1], "threads": 1, "dynamic_shared_bytes": 0, "arguments": arguments}
    ptx = shutil.copy(DEVICE_SCRIPTS / "clocks.ptx", preparation.ptx)
    return preparation.assemble(pathlib.Path(ptx), "device") | launch


def describe(command: str, target: str) -> dict[str, str]:
    """What made the code."""
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    date = datetime.date.today().isoformat()
    return {"target": target, "date": date, "tilewright": version, "triton": VERSION, "ptxas": assembler_version()}


def write_large_programs(name: str, folder: pathlib.Path, only: str) -> list[pathlib.Path]:
    """Writes a set of large programs in a process of its own, since Triton's front end keeps much."""
    subprocess.run([sys.executable, "-W", "ignore", "-m", "gpu.write_ttir", name, str(folder), only], check=True)
    return sorted(file for file in folder.glob("*.ttir") if only in file.stem)


def prepare(chosen: argparse.Namespace, ptx: pathlib.Path) -> None:
    """Writes the folder."""
    preparation = Preparation(chosen.command, chosen.target, chosen.folder, ptx)
    cases = sorted(file for file in chosen.cases.glob("*.ttir") if chosen.only in file.stem)
    large = {name: write_large_programs(name, ptx / name, chosen.only) for name in LARGE_SETS}
    preparation.compile_triton([*cases, *(file for files in large.values() for file in files)])
    index: dict[str, Any] = {"about": describe(chosen.command, chosen.target), "clocks": build_clocks(preparation)}
    index |= {name: preparation.build_all(files) for name, files in {"cases": cases, **large}.items()}
    for name, program in index["cases"].items():
        program["buffers"] = preparation.keep_buffers(chosen.cases, name, program["buffers"])
    (chosen.folder / "programs.json").write_text(json.dumps(index))
    for script in DEVICE_SCRIPTS.glob("*.py"):
        shutil.copy(script, chosen.folder)
    size = sum(file.stat().st_size for file in chosen.folder.rglob("*") if file.is_file()) / (1 << 20)
    print(
        f"{chosen.folder}: {size:.1f} MiB, "
        + ", ".join(f"{len(files)} {name}" for name, files in large.items())
        + f", {len(cases)} cases"
    )


def main() -> None:
    """Reads the arguments; without a folder for PTX, a temporary one."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", help="the command `tilewright`")
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--cases", type=pathlib.Path, required=True)
    arguments.add_argument("--target", choices=TARGETS, required=True)
    arguments.add_argument("--ptx", type=pathlib.Path, metavar="FOLDER")
    arguments.add_argument("--only", default="", metavar="TEXT", help="only programs whose names have it")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        prepare(chosen, chosen.ptx or pathlib.Path(temporary))


if __name__ == "__main__":
    main()
