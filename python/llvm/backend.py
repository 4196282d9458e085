"""Builds the wheel `tilewright-llvm`, as pip asks for it (PEP 517): what `tilewright-install` installs as plugins, with LLVM.

`pip wheel --config-settings installation=PREFIX` packs what `tilewright-install` has installed there, and builds nothing.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import subprocess
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Intel's code generator needs no LLVM; it is in the package `tilewright`.
PLUGINS = ["nvidia", "amd"]
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Builds the wheel; returns its file name."""
    tag, information = f"py3-none-{_platform_tag()}", f"tilewright_llvm-{_version()}.dist-info"
    wheel = f"tilewright_llvm-{_version()}-{tag}.whl"
    with tempfile.TemporaryDirectory() as built, zipfile.ZipFile(Path(wheel_directory, wheel), "w") as archive:
        prefix = (config_settings or {}).get("installation")
        if prefix is None:
            prefix = built
            command = ["cargo", "run", "--release", "--bin", "tilewright-install", "--", "--prefix", prefix]
            subprocess.run(command, cwd=ROOT, check=True)
        files = [*_package(Path(prefix, "lib", "tilewright")), *_information(information, tag)]
        record = [_write(archive, name, contents) for name, contents in files]
        archive.writestr(f"{information}/RECORD", "\n".join([*record, f"{information}/RECORD,,", ""]))
    return wheel


def _package(installed: Path) -> Iterator[tuple[str, bytes]]:
    """Yields the files of the package: its module, the plugins with their manifests, and the LLVM that they link. Plugins
    look for LLVM in their own folder, then where it was when they were built."""
    yield "tilewright_llvm/__init__.py", b'"""Code generators of Tilewright; the package `tilewright` finds them."""\n'
    plugins = b""
    for name in PLUGINS:
        manifest = installed / f"{name}.plugin.toml"
        (library,) = re.findall(r'^library = "(.*)"', manifest.read_text(), re.MULTILINE)
        for file in (manifest, installed / library):
            yield f"tilewright_llvm/{file.name}", file.read_bytes()
        plugins += (installed / library).read_bytes()
    (llvm,) = set(re.findall(rb"\0(libLLVM[^\0]*)\0", plugins))
    (folder,) = set(re.findall(rb"\$ORIGIN:([^\0:]+)\0", plugins))
    yield f"tilewright_llvm/{llvm.decode()}", Path(folder.decode(), llvm.decode()).read_bytes()


def _information(folder: str, tag: str) -> Iterator[tuple[str, bytes]]:
    """Yields the files of the wheel's metadata, apart from its record."""
    project = (HERE / "pyproject.toml").read_text()
    fields = dict(re.findall(r'^(\S+) = "(.*)"$', project, re.MULTILINE))
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {fields['name']}",
        f"Version: {_version()}",
        f"Summary: {fields['description']}",
        f"License-Expression: {fields['license']}",
        *(f"License-File: {name}" for name in LICENSES),
        f"Requires-Python: {fields['requires-python']}",
        "Description-Content-Type: text/markdown",
        "",
        (HERE / fields["readme"]).read_text(),
    ]
    yield f"{folder}/METADATA", "\n".join(metadata).encode()
    yield f"{folder}/WHEEL", f"Wheel-Version: 1.0\nGenerator: tilewright\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    for name in LICENSES:
        yield f"{folder}/licenses/{name}", (ROOT / name).read_bytes()


def _write(archive: zipfile.ZipFile, name: str, contents: bytes) -> str:
    """Adds a file to the wheel; returns its line of the record."""
    archive.writestr(name, contents, zipfile.ZIP_DEFLATED)
    digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(contents)}"


def _version() -> str:
    (version,) = re.findall(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    return str(version)


def _platform_tag() -> str:
    """Returns the wheel tag of this machine: its C library is the oldest that the libraries are sure to work with."""
    library, version = platform.libc_ver()
    local = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return local.replace("linux", f"manylinux_{version.replace('.', '_')}") if library == "glibc" else local
