"""Tests of the installed package; those of the Triton backend are skipped where Triton is not installed."""

import os

# Triton chooses its driver once in a process.
os.environ.setdefault("TRITON_DEFAULT_BACKEND", "tilewright")
