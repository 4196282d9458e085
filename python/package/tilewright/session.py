"""The library's `Session`, opened once: targets, and the plugins that generate code."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

from . import errors
from ._native import Session


def generator_files() -> list[Path]:
    """Returns the code generators along `TILEWRIGHT_PLUGIN_PATH`, then those of `tilewright-llvm`: their manifests, or in a
    folder without any, the libraries of plugins."""
    folders = [Path(folder) for folder in os.environ.get("TILEWRIGHT_PLUGIN_PATH", "").split(os.pathsep) if folder]
    package = importlib.util.find_spec("tilewright_llvm")
    if package is not None and package.submodule_search_locations:
        folders += [Path(folder) for folder in package.submodule_search_locations]
    return [file for folder in folders if folder.is_dir() for file in _generators(folder)]


def _generators(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.plugin.toml")) or sorted(folder.glob("libtilewright_*_plugin.so"))


@functools.cache
def session() -> Session:
    """Returns the library's `Session`, one for all calls. `TILEWRIGHT_TARGETS` names further directories of targets."""
    folders = [Path(folder) for folder in os.environ.get("TILEWRIGHT_TARGETS", "").split(os.pathsep) if folder]
    return Session(generator_files(), folders)


def answer(op: str, **fields: Any) -> Any:
    """Answers one request of `tilewright batch`, and returns its result."""
    given = {name: value for name, value in fields.items() if value is not None}
    reply = json.loads(session().answer(json.dumps({"id": 0, "op": op, **given})))
    if "error" not in reply:
        return reply["result"]
    code, message = reply["error"]["code"], reply["error"]["message"]
    if code == "unsupported":
        raise errors.UnsupportedError(message)
    if code == "failed":
        raise errors.CompileError(message)
    raise errors.InputError(message)
