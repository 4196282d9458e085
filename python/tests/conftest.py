"""Tests of the installed package; those of the Triton backend are skipped where Triton is not installed."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

# Triton chooses its driver once in a process.
os.environ.setdefault("TRITON_DEFAULT_BACKEND", "tilewright")


def forget_kernels(namespace: dict[str, Any]) -> None:
    """Forgets the kernels of a module that were compiled for another target: a process has one target otherwise."""
    for one in namespace.values():
        if hasattr(one, "device_caches"):
            one.device_caches.clear()


@pytest.fixture
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Makes a driver for the target of the parameter active."""
    triton = pytest.importorskip("triton")
    from tilewright.triton.driver import TilewrightDriver

    monkeypatch.setenv("TILEWRIGHT_TARGET", request.param)
    triton.runtime.driver.set_active(TilewrightDriver())
    forget_kernels(vars(request.module))
    yield request.param
    triton.runtime.driver.reset_active()
    forget_kernels(vars(request.module))
