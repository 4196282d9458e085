//! Arithmetic instructions that exist for both integers and floating-point numbers.

use super::{float, integer};
use crate::machine::Compute;
use crate::program::{Form, Row, Semantics};

const NUMBERS: &str = "u16 u32 u64 s16 s32 s64 u16x2 s16x2 f16 bf16 f16x2 bf16x2 f32 f64";

/// Types of the instructions that also support `f32x2`, two packed binary32 numbers.
const NUMBERS_AND_PAIRS: &str = "u16 u32 u64 s16 s32 s64 u16x2 s16x2 f16 bf16 f16x2 bf16x2 f32 f32x2 f64";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "add",
        modifiers: "rn rz rm rp ftz sat noftz",
        types: NUMBERS_AND_PAIRS,
        semantics: Semantics::Lanes(2, add),
    },
    Row {
        name: "sub",
        modifiers: "rn rz rm rp ftz sat noftz",
        types: NUMBERS_AND_PAIRS,
        semantics: Semantics::Lanes(2, sub),
    },
    Row {
        name: "mul",
        modifiers: "lo hi wide rn rz rm rp ftz sat",
        types: NUMBERS_AND_PAIRS,
        semantics: Semantics::Lanes(2, mul),
    },
    Row {
        name: "mad",
        modifiers: "lo hi wide sat rn rz rm rp ftz",
        types: NUMBERS,
        semantics: Semantics::Lanes(3, mad),
    },
    Row {
        name: "fma",
        modifiers: "rn rz rm rp ftz sat relu",
        types: "f16 bf16 f16x2 bf16x2 f32 f32x2 f64",
        semantics: Semantics::Lanes(3, float::fused),
    },
    Row { name: "mul24", modifiers: "lo hi", types: "u32 s32", semantics: Semantics::Lanes(2, integer::mul24) },
    Row { name: "mad24", modifiers: "lo hi", types: "u32 s32", semantics: Semantics::Lanes(3, integer::mad24) },
    Row { name: "div", modifiers: "approx full rn rz rm rp ftz", types: NUMBERS, semantics: Semantics::Lanes(2, div) },
    Row { name: "rem", modifiers: "", types: NUMBERS, semantics: Semantics::Lanes(2, integer::rem) },
    Row { name: "abs", modifiers: "ftz", types: NUMBERS, semantics: Semantics::Lanes(1, abs) },
    Row { name: "neg", modifiers: "ftz", types: NUMBERS, semantics: Semantics::Lanes(1, neg) },
    Row { name: "min", modifiers: "ftz NaN relu xorsign abs", types: NUMBERS, semantics: Semantics::Lanes(2, min) },
    Row { name: "max", modifiers: "ftz NaN relu xorsign abs", types: NUMBERS, semantics: Semantics::Lanes(2, max) },
    Row { name: "sad", modifiers: "", types: NUMBERS, semantics: Semantics::Lanes(3, integer::sad) },
    Row { name: "dp4a", modifiers: "", types: "u32 s32", semantics: Semantics::Lanes(3, integer::dot_bytes) },
];

/// Returns the function that computes a lane's result: from `of_floats` if the opcode has a floating-point type,
/// otherwise from `of_integers`.
fn either(
    form: &Form<'_>,
    of_floats: fn(&Form<'_>) -> Option<Compute>,
    of_integers: fn(&Form<'_>) -> Option<Compute>,
) -> Option<Compute> {
    if form.ty().float().is_some() { of_floats(form) } else { of_integers(form) }
}

fn add(form: &Form<'_>) -> Option<Compute> {
    either(form, float::add, integer::add)
}

fn sub(form: &Form<'_>) -> Option<Compute> {
    either(form, float::sub, integer::sub)
}

fn mul(form: &Form<'_>) -> Option<Compute> {
    either(form, float::mul, integer::mul)
}

fn mad(form: &Form<'_>) -> Option<Compute> {
    either(form, float::fused, integer::mad)
}

fn div(form: &Form<'_>) -> Option<Compute> {
    either(form, float::div, integer::div)
}

fn abs(form: &Form<'_>) -> Option<Compute> {
    either(form, float::abs, integer::abs)
}

fn neg(form: &Form<'_>) -> Option<Compute> {
    either(form, float::neg, integer::neg)
}

fn min(form: &Form<'_>) -> Option<Compute> {
    either(form, |form| float::extreme(form, false), |form| integer::extreme(form, false))
}

fn max(form: &Form<'_>) -> Option<Compute> {
    either(form, |form| float::extreme(form, true), |form| integer::extreme(form, true))
}
