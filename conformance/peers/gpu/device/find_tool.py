"""Finds NVIDIA's profiler and sanitizer."""

import pathlib
import shutil

# Folders of CUDA's toolkit and of Nsight Compute, which need not be in `PATH`.
FOLDERS = ("usr/local/cuda*/bin", "opt/nvidia/nsight-compute/*")


def find_tool(name: str) -> str:
    """The path of a tool."""
    found = [str(file) for folder in FOLDERS for file in sorted(pathlib.Path("/").glob(f"{folder}/{name}"))]
    tool = shutil.which(name) or next(iter(found), None)
    if tool is None:
        raise FileNotFoundError(f"`{name}` is neither in PATH nor in {', '.join('/' + folder for folder in FOLDERS)}")
    return tool
