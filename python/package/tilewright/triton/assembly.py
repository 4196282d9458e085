"""Inline assembly of one instruction, as the function that it computes: the emulator executes no assembly."""

from __future__ import annotations

import re

# Patterns of an instruction's name, and a library function that computes the same or is more accurate.
_FUNCTIONS = {
    r"tanh\.approx\.f32": "__nv_tanhf",
    r"sin\.approx(\.ftz)?\.f32": "__nv_sinf",
    r"cos\.approx(\.ftz)?\.f32": "__nv_cosf",
    r"ex2\.approx(\.ftz)?\.f32|v_exp_f32": "__nv_exp2f",
    r"lg2\.approx(\.ftz)?\.f32|v_log_f32": "__nv_log2f",
    r"rcp\.(approx|rn)(\.ftz)?\.f32|v_rcp_f32": "__nv_frcp_rn",
    r"sqrt\.(approx|rn)(\.ftz)?\.f32|v_sqrt_f32": "__nv_sqrtf",
    r"rsqrt\.approx(\.ftz)?\.f32|v_rsq_f32": "__nv_rsqrtf",
    r"cvt\.rni\.f32\.f32|v_rndne_f32": "__nv_rintf",
}

_OPERATION = re.compile(
    r'tt\.elementwise_inline_asm "\s*(?P<name>[\w.]+) \$0, \$1;?\s*" '
    r'\{constraints = "=[rfv],[rfv]", packed_element = 1 : i32, pure = \w+\} '
    r"(?P<operand>%\S+) : (?P<from>f32|tensor<[^<>]*xf32(, #\w+)?>) -> (?P<to>f32|tensor<[^<>]*xf32(, #\w+)?>)"
)


def replace_assembly(text: str) -> str:
    """Returns a program of Triton IR whose inline assembly calls functions, if the functions are known."""
    return _OPERATION.sub(_function, text)


def _function(operation: re.Match[str]) -> str:
    name, operand = operation["name"], operation["operand"]
    if name in ("mov.f32", "mov.b32", "v_mov_b32"):
        return f"tt.bitcast {operand} : {operation['from']} -> {operation['to']}"
    for pattern, symbol in _FUNCTIONS.items():
        if re.fullmatch(pattern, name):
            attributes = f'{{libname = "", libpath = "", pure = true, symbol = "{symbol}"}}'
            return f"tt.extern_elementwise {operand} {attributes} : ({operation['from']}) -> {operation['to']}"
    return operation[0]
