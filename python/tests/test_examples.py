"""The examples run and agree with numpy on a GPU of each vendor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
OF_TRITON = [
    "vector_add",
    "softmax",
    "matmul",
    "layer_norm",
    "attention",
    "dropout",
    "grouped_matmul",
    "persistent_matmul",
    "cross_entropy",
]


@pytest.mark.parametrize("target", ["h100", "mi300x", "max1550"])
@pytest.mark.parametrize("name", OF_TRITON)
def test_example(name: str, target: str) -> None:
    pytest.importorskip("triton")
    environment = {**os.environ, "TRITON_DEFAULT_BACKEND": "tilewright", "TILEWRIGHT_TARGET": target}
    _run(name, environment)


def test_example_of_layouts() -> None:
    _run("layouts", dict(os.environ))


def _run(name: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
