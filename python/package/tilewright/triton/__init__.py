"""The Triton backend `tilewright`: it runs kernels on the emulator of a GPU.

    TRITON_DEFAULT_BACKEND=tilewright TILEWRIGHT_TARGET=mi300x python kernel.py

Triton imports the modules `compiler` and `driver` of this package in every process; without the variable they do nothing.
"""
