"""Tensors of the large programs on the device, and the results that PyTorch computes of them in higher precision."""

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

Tensors = dict[str, Any]
TYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "i32": torch.int32,
    "i8": torch.int8,
    "f8e4m3": torch.float8_e4m3fn,
}
# Integers lie in [-LIMIT, LIMIT].
LIMIT = 100


def make_tensor(buffer: dict[str, Any], generator: Any, device: str) -> Any:
    """A tensor by the rule of its buffer; an output has a pattern that no result has."""
    shape, dtype = buffer["shape"], TYPES[buffer["dtype"]]
    if buffer["make"] is None:
        return torch.full(shape, 77, device=device).to(dtype)
    if buffer["make"]["distribution"] == "integers":
        return torch.randint(-LIMIT, LIMIT + 1, shape, generator=generator, device=device, dtype=torch.int32).to(dtype)
    return (torch.randn(shape, generator=generator, device=device) * buffer["make"]["scale"]).to(dtype)


def widen(tensor: Any) -> Any:
    """The same numbers in binary64."""
    return tensor.float().double()


def multiply(tensors: Tensors, transposed: bool) -> Any:
    """A B, or A B^T."""
    b = widen(tensors["b"])
    return widen(tensors["a"]) @ (b.T if transposed else b)


def multiply_dequantized(tensors: Tensors) -> Any:
    """A (B scale)."""
    return (widen(tensors["a"]) @ widen(tensors["b"])) * widen(tensors["scale"])


def attend(tensors: Tensors, causal: bool) -> Any:
    """Attention, one head after the other."""
    result = torch.empty_like(tensors["q"], dtype=torch.float64)
    for head in range(result.shape[0]):
        q, k, v = (widen(tensors[name][head]) for name in "qkv")
        scores = q @ k.T / math.sqrt(q.shape[1])
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
        result[head] = torch.softmax(scores, 1) @ v
    return result


def layernorm(tensors: Tensors) -> Any:
    """Layer normalization of rows."""
    x, weight, bias = (widen(tensors[name]) for name in ("x", "weight", "bias"))
    return torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias, 1e-5)


REFERENCES: dict[str, Callable[..., Any]] = {
    "multiply": multiply,
    "multiply_dequantized": multiply_dequantized,
    "attend": attend,
    "softmax": lambda tensors: torch.softmax(widen(tensors["x"]), 1),
    "layernorm": layernorm,
    "transpose": lambda tensors: tensors["x"].T,
    "row_scan": lambda tensors: torch.cumsum(widen(tensors["x"]), 1),
    "add": lambda tensors: tensors["x"] + tensors["y"],
    "gelu": lambda tensors: torch.nn.functional.gelu(widen(tensors["x"])),
    "row_sum": lambda tensors: widen(tensors["x"]).sum(1),
    "column_sum": lambda tensors: widen(tensors["x"]).sum(0),
}


def find_reference(reference: dict[str, Any]) -> Callable[[Tensors], Any]:
    """The function that computes the result."""
    options = {key: value for key, value in reference.items() if key != "name"}
    return functools.partial(REFERENCES[reference["name"]], **options)


def relative_error(result: Any, expected: Any) -> float:
    """The norm of the difference by the norm of the expected result; infinite if one is not a number."""
    difference = norm = 0.0
    # By parts, to save memory.
    for some, exact in zip(result.flatten().split(1 << 26), expected.flatten().split(1 << 26)):
        wide = widen(exact)
        difference += float((widen(some) - wide).square().sum())
        norm += float(wide.square().sum())
    error = math.sqrt(difference / norm) if norm else math.inf
    return error if math.isfinite(error) else math.inf
