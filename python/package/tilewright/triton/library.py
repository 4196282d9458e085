"""The native library of this package, as a part of the keys of compiled kernels."""

from __future__ import annotations

import functools
import hashlib


@functools.cache
def library_hash() -> str:
    from tilewright import _native

    with open(_native.__file__, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _native.__version__
