"""Compares the barriers and bytes of shared memory of `tilewright` with those of Triton's final code.

    python3 shared_memory_beside_triton.py FOLDER COMMAND [--counts FILE] [--all]

FOLDER has `.mlir` and `.ttgir` files in Triton's dialects with layouts, in any depth. Triton 3.9.0 (`pip install
triton==3.9.0` for this Python) lowers each file by the passes of its own backend in a process of its own, so that a
crash ends nothing else; counted are the block barriers in its LLVM dialect and the bytes `ttg.shared`. `--counts FILE`
reads Triton's numbers from a file instead (one JSON object per line: name, target, barriers, bytes) and writes it if it
does not exist; a file that Triton does not compile is left out. COMMAND is the command `tilewright`, which compiles
each file to kernel IR for the same target, with the layouts that the file says.

Prints the files where `tilewright` has more barriers or bytes (`--all`: all files that use shared memory), and the sums
over the files that both compile.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess

from verifier_beside_triton import DEFAULT_TARGET, SECONDS, TARGETS, parse, run_in_child

DEFAULT_MODULE_TARGET = "cuda:90"
TRITON_BARRIER = re.compile(r"nvvm\.barrier\b|nvvm\.barrier0|rocdl\.barrier|rocdl\.s\.barrier(?!\.signal)|bar(?:rier)?\.sync")
OWN_BARRIER = re.compile(r"^\s*(?:barrier (?:block|cluster)|named_barrier)\b", re.M)
PTX_VERSION = 87


def module_target(text):
    """Target that the module names, in Triton's words."""
    named = re.search(r'ttg\.target = "([^"]*)"', text)
    return named[1] if named and named[1] in TARGETS else DEFAULT_MODULE_TARGET


def lower(module, backend, chip):
    """Runs the passes of a backend from layouts to the LLVM dialect."""
    from triton._C.libtriton import amd, ir, nvidia, passes

    manager = ir.pass_manager(module.context)
    if backend == "cuda":
        chip = int(chip)
        passes.ttgpuir.add_combine_tensor_select_and_if(manager)
        passes.ttgpuir.add_allocate_warp_groups(manager, False)
        passes.convert.add_scf_to_cf(manager)
        passes.gluon.add_inliner(manager)
        nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, chip, PTX_VERSION)
        nvidia.passes.ttnvgpuir.add_allocate_tensor_memory(manager)
        nvidia.passes.ttnvgpuir.add_proxy_fence_insertion(manager, chip)
        nvidia.passes.ttnvgpuir.add_tmem_barrier_insertion(manager)
        nvidia.passes.ttgpuir.add_membar(manager, chip, PTX_VERSION)
        nvidia.passes.ttnvgpuir.add_tmem_wait_insertion(manager)
        nvidia.passes.ttnvgpuir.add_cluster_barrier_mbar_allocator(manager)
        passes.ttgpuir.add_allocate_global_scratch_memory(manager)
        nvidia.passes.ttgpuir.add_to_llvmir(manager, chip, PTX_VERSION)
        nvidia.passes.ttnvgpuir.add_initialize_ws_cluster_barriers(manager, chip, PTX_VERSION)
        passes.ttgpuir.add_canonicalize_llvm_ir(manager)
        passes.common.add_cse(manager)
        nvidia.passes.ttnvgpuir.add_warp_specialize_to_llvm(manager)
    else:
        amd.passes.ttgpuir.add_update_async_wait_count(manager, chip)
        amd.passes.ttgpuir.add_warp_pipeline_conversion(manager, chip)
        passes.convert.add_scf_to_cf(manager)
        passes.gluon.add_inliner(manager)
        passes.convert.add_index_to_llvmir(manager)
        amd.passes.ttgpuir.add_allocate_shared_memory(manager, chip)
        amd.passes.ttgpuir.add_membar(manager, chip)
        passes.ttgpuir.add_allocate_global_scratch_memory(manager)
        amd.passes.ttgpuir.add_to_llvmir(manager, chip, True)
        amd.passes.ttgpuir.add_warp_specialize_to_llvm(manager, chip)
    passes.common.add_canonicalizer(manager)
    passes.common.add_cse(manager)
    manager.run(module, "shared_memory_beside_triton")


def count_by_triton(file):
    """Barriers and bytes in Triton's final code; None where Triton does not compile the file."""

    def count(writer):
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        module = parse(file)
        lower(module, *module_target(file.read_text()).split(":"))
        barriers = len(TRITON_BARRIER.findall(str(module)))
        os.write(writer, json.dumps({"barriers": barriers, "bytes": module.get_int_attr("ttg.shared") or 0}).encode())
        return 0

    output, _ = run_in_child(count)
    return json.loads(output) if output else None


def count_by_triton_all(files, folder, file):
    """Triton's numbers by name, read from `file` if it exists, else by Triton."""
    if file and file.exists():
        return {entry["name"]: entry for entry in map(json.loads, file.read_text().splitlines())}
    counts = {}
    for path in files:
        name = str(path.relative_to(folder))
        found = count_by_triton(path)
        if found is not None:
            counts[name] = {"name": name, "target": TARGETS[module_target(path.read_text())], **found}
    if file:
        file.write_text("".join(json.dumps(entry) + "\n" for entry in counts.values()))
    return counts


def count_by_tilewright(command, file):
    """Barriers and bytes in the kernel IR; None where the file does not compile."""
    text = file.read_text()
    target = TARGETS.get(module_target(text), DEFAULT_TARGET)
    warps = [] if '"ttg.num-warps"' in text else ["--warps", "4"]
    line = [command, "compile", "--target", target, *warps, "--emit", "kernel", str(file)]
    try:
        result = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if result.returncode:
        return None
    buffers = re.findall(r"^\s*shared \d+: (\d+) bytes.* at (\d+)", result.stdout, re.M)
    end = max((int(at) + int(size) for size, at in buffers), default=0)
    return {"barriers": len(OWN_BARRIER.findall(result.stdout)), "bytes": end}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("command")
    parser.add_argument("--counts", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    files = sorted(path for kind in ("*.mlir", "*.ttgir") for path in arguments.folder.rglob(kind))
    theirs = count_by_triton_all(files, arguments.folder, arguments.counts)
    print(f"{'file':60} {'barriers':>9} {'Triton':>7} {'bytes':>9} {'Triton':>8}")
    sums = {"files": 0, "more": 0, "barriers": [0, 0], "bytes": [0, 0]}
    for path in files:
        name = str(path.relative_to(arguments.folder))
        if name not in theirs:
            continue
        own, other = count_by_tilewright(arguments.command, path), theirs[name]
        if own is None:
            continue
        sums["files"] += 1
        is_more = any(own[kind] > other[kind] for kind in ("barriers", "bytes"))
        sums["more"] += is_more
        for kind in ("barriers", "bytes"):
            sums[kind][0] += own[kind]
            sums[kind][1] += other[kind]
        if is_more or arguments.all and (own["bytes"] or other["bytes"]):
            print(f"{name:60} {own['barriers']:>9} {other['barriers']:>7} {own['bytes']:>9} {other['bytes']:>8}", flush=True)
    total = sums["barriers"] + sums["bytes"]
    print(f"{sums['files']} files, more in {sums['more']}".ljust(60), "{:>9} {:>7} {:>9} {:>8}".format(*total))


if __name__ == "__main__":
    main()
