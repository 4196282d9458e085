//! Instructions for math functions. Functions that are approximate on hardware are computed in binary64 and rounded
//! once, so that results are within the error that PTX ISA permits.

use super::float::Style;
use super::{one, two};
use crate::float::Exact;
use crate::machine::Compute;
use crate::program::{Form, Row, Semantics};

const SINGLE: &str = "f32";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "ex2",
        modifiers: "approx ftz",
        types: "f32 f16 f16x2 bf16 bf16x2",
        semantics: Semantics::Lanes(1, |form| real(form, f64::exp2)),
    },
    Row {
        name: "lg2",
        modifiers: "approx ftz",
        types: SINGLE,
        semantics: Semantics::Lanes(1, |form| real(form, f64::log2)),
    },
    Row {
        name: "sin",
        modifiers: "approx ftz",
        types: SINGLE,
        semantics: Semantics::Lanes(1, |form| real(form, f64::sin)),
    },
    Row {
        name: "cos",
        modifiers: "approx ftz",
        types: SINGLE,
        semantics: Semantics::Lanes(1, |form| real(form, f64::cos)),
    },
    Row {
        name: "tanh",
        modifiers: "approx ftz",
        types: "f32 f16 f16x2 bf16 bf16x2",
        semantics: Semantics::Lanes(1, |form| real(form, f64::tanh)),
    },
    Row {
        name: "rsqrt",
        modifiers: "approx ftz",
        types: "f32 f64",
        semantics: Semantics::Lanes(1, |form| real(form, |value| 1.0 / value.sqrt())),
    },
    Row { name: "sqrt", modifiers: "approx rn rz rm rp ftz", types: "f32 f64", semantics: Semantics::Lanes(1, sqrt) },
    Row {
        name: "rcp",
        modifiers: "approx rn rz rm rp ftz",
        types: "f32 f64",
        semantics: Semantics::Lanes(1, reciprocal),
    },
    Row { name: "copysign", modifiers: "", types: "f32 f64", semantics: Semantics::Lanes(2, copy_sign) },
    Row {
        name: "testp",
        modifiers: "finite infinite number notanumber normal subnormal",
        types: "f32 f64",
        semantics: Semantics::Lanes(1, test),
    },
];

fn real(form: &Form<'_>, function: fn(f64) -> f64) -> Option<Compute> {
    let style = Style::of(form)?;
    one(form.ty(), move |a| style.write(function(style.read(a))))
}

fn sqrt(form: &Form<'_>) -> Option<Compute> {
    let style = Style::of(form)?;
    one(form.ty(), move |a| style.write(Exact::root(style.read(a))))
}

fn reciprocal(form: &Form<'_>) -> Option<Compute> {
    let style = Style::of(form)?;
    one(form.ty(), move |a| style.write(Exact::quotient(1.0, style.read(a))))
}

/// Returns the function by which a lane computes `copysign`: the magnitude of the second operand with the sign of the
/// first.
fn copy_sign(form: &Form<'_>) -> Option<Compute> {
    let sign = 1u64 << (form.ty().bits - 1);
    two(form.ty(), move |a, b| a & sign | b & !sign)
}

fn test(form: &Form<'_>) -> Option<Compute> {
    let style = Style::of(form)?;
    let &[property] = form.words.as_slice() else { return None };
    let float = style.float;
    let is_subnormal = move |bits: u64| float.flushed(bits) != bits;
    let holds: Box<dyn Fn(u64) -> bool + Send + Sync> = match property {
        "finite" => Box::new(move |bits| float.decode(bits).is_finite()),
        "infinite" => Box::new(move |bits| float.decode(bits).is_infinite()),
        "number" => Box::new(move |bits| !float.decode(bits).is_nan()),
        "notanumber" => Box::new(move |bits| float.decode(bits).is_nan()),
        "normal" => Box::new(move |bits| {
            let value = float.decode(bits);
            value.is_finite() && value != 0.0 && !is_subnormal(bits)
        }),
        _ => Box::new(is_subnormal),
    };
    one(form.ty(), move |a| u64::from(holds(a)))
}
