//! Conversion instructions (`cvt`) between all types, for one or two values. The opcode names the result type first.

use crate::float::{Exact, Float, Rounding, integral, of_integer};
use crate::machine::{Compute, Lanes, Operation, PartialLanes};
use crate::program::{Class, Form, Operands, Row, Semantics, Type, mask, sign_extend};

const TYPES: &str = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 tf32 f16x2 bf16x2 e4m3x2 e5m2x2 e2m1x2 b16 b32";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "cvt",
        modifiers: "rn rna rz rm rp rni rzi rmi rpi ftz sat satfinite relu",
        types: TYPES,
        semantics: Semantics::Warp(convert),
    },
    Row { name: "cvt.pack.sat", modifiers: "", types: TYPES, semantics: Semantics::Warp(pack) },
];

fn convert(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let &[to, from] = form.types.as_slice() else { return Err(form.unknown()) };
    let unknown = || form.unknown();
    let (count, compute): (usize, Compute) = match (to.element_count, from.element_count) {
        (1, 1) => {
            let element_conversion = element_conversion(form, to, from).ok_or_else(unknown)?;
            (1, Box::new(move |[a, ..]| element_conversion(a)))
        }
        // The first operand becomes the upper element of the packed result.
        (2, 1) => {
            let element_conversion =
                element_conversion(form, Type { element_count: 1, ..to }, from).ok_or_else(unknown)?;
            let bits = to.bits;
            (
                2,
                Box::new(move |[a, b, ..]| {
                    (element_conversion(a) & mask(bits)) << bits | element_conversion(b) & mask(bits)
                }),
            )
        }
        (2, 2) => {
            let element_conversion =
                element_conversion(form, Type { element_count: 1, ..to }, Type { element_count: 1, ..from })
                    .ok_or_else(unknown)?;
            let (bits, from) = (to.bits, from.bits);
            (
                1,
                Box::new(move |[a, ..]| {
                    (element_conversion(a >> from) & mask(bits)) << bits
                        | element_conversion(a & mask(from)) & mask(bits)
                }),
            )
        }
        _ => return Err(form.unknown()),
    };
    operands.expect(count + 1..=count + 1)?;
    let sources = (1..=count).map(|index| operands.source(index, from)).collect::<Result<Vec<_>, _>>()?;
    let result = operands.destination(0)?;
    if to.element_count == 1 {
        return Ok(Box::new(Lanes::new(result, &sources, compute)));
    }
    Ok(Box::new(PartialLanes::packed(result, &sources, compute, defined_pair(to, from))))
}

/// Returns the function that computes the defined bits of a packed pair from those of its operands. There are two
/// operands, the first for the upper element, or one packed operand.
fn defined_pair(to: Type, from: Type) -> Compute {
    let element = move |bits: u64| if bits & mask(from.bits) == mask(from.bits) { mask(to.bits) } else { 0 };
    Box::new(move |[a, b, ..]| {
        let [upper, lower] = if from.element_count == 1 { [a, b] } else { [a >> from.bits, a] };
        element(upper) << to.bits | element(lower)
    })
}

type ConvertElement = Box<dyn Fn(u64) -> u64 + Send + Sync>;

fn element_conversion(form: &Form<'_>, to: Type, from: Type) -> Option<ConvertElement> {
    match (to.class, from.class) {
        (Class::Float(to), Class::Float(from)) => floats(form, to, from),
        (Class::Float(to), _) => of_integers(form, to, from),
        (_, Class::Float(float)) => to_integers(form, to, float),
        _ => integers(form, to, from),
    }
}

fn floats(form: &Form<'_>, to: Float, from: Float) -> Option<ConvertElement> {
    let (flushes, saturates, finite, relu) =
        (form.has("ftz"), form.has("sat"), form.has("satfinite"), form.has("relu"));
    let to_integral = ["rni", "rzi", "rmi", "rpi"].into_iter().find(|word| form.has(word)).and_then(Rounding::named);
    let rounding = match to_integral {
        Some(_) => Rounding::Even,
        None => form.find(Rounding::named).unwrap_or(Rounding::Even),
    };
    Some(Box::new(move |bits| {
        let bits = if flushes { from.flushed(bits & mask(from.bits())) } else { bits & mask(from.bits()) };
        let value = from.decode(bits);
        let value = to_integral.map_or(value, |rounding| integral(value, rounding));
        let value = match value {
            value if saturates && (value.is_nan() || value <= 0.0) => 0.0,
            value if saturates && value > 1.0 => 1.0,
            value if relu && value < 0.0 => 0.0,
            value => value,
        };
        let bits = to.round(Exact::from(value), rounding, finite);
        if flushes { to.flushed(bits) } else { bits }
    }))
}

fn of_integers(form: &Form<'_>, to: Float, from: Type) -> Option<ConvertElement> {
    let rounding = form.find(Rounding::named)?;
    let saturates = form.has("sat");
    Some(Box::new(move |bits| {
        let value = value(from, bits);
        let value = if saturates { value.clamp(0, 1) } else { value };
        to.round(of_integer(value), rounding, false)
    }))
}

fn value(ty: Type, bits: u64) -> i128 {
    if ty.is_signed() { i128::from(sign_extend(bits, ty.bits)) } else { i128::from(bits & mask(ty.bits)) }
}

/// Returns the function that converts an element of the floating-point type `from` to the integer type `to`.
/// Out-of-range values saturate and NaN becomes zero. Returns `None` if the opcode has no rounding mode.
fn to_integers(form: &Form<'_>, to: Type, from: Float) -> Option<ConvertElement> {
    let rounding = form.find(Rounding::named)?;
    let flushes = form.has("ftz");
    Some(Box::new(move |bits| {
        let bits = if flushes { from.flushed(bits & mask(from.bits())) } else { bits & mask(from.bits()) };
        clamped(to, integral(from.decode(bits), rounding) as i128)
    }))
}

/// Clamps a value to the range of an integer type.
fn clamped(ty: Type, value: i128) -> u64 {
    let (min, most) = match ty.is_signed() {
        true => (-(1i128 << (ty.bits - 1)), (1i128 << (ty.bits - 1)) - 1),
        false => (0, i128::from(mask(ty.bits))),
    };
    value.clamp(min, most) as u64
}

fn integers(form: &Form<'_>, to: Type, from: Type) -> Option<ConvertElement> {
    match form.words.as_slice() {
        [] => Some(Box::new(move |bits| to.extended(value(from, bits) as u64))),
        ["sat"] => Some(Box::new(move |bits| clamped(to, value(from, bits)))),
        _ => None,
    }
}

/// Decodes `cvt.pack.sat.u8.s32.b32 d, a, b, c`: `d` has the saturated `a` and `b` in its low bits, and `c` above them.
fn pack(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let (&[to, from], counts) = (&form.types[..form.types.len().min(2)], 3..=4) else { return Err(form.unknown()) };
    operands.expect(counts)?;
    let count = operands.count() - 1;
    let sources = (1..=count).map(|index| operands.source(index, from)).collect::<Result<Vec<_>, _>>()?;
    let compute = move |[a, b, c, _]: [u64; 4]| {
        let narrow = |bits| clamped(to, value(from, bits)) & mask(to.bits);
        let above = if count == 3 { c << (2 * to.bits).min(63) } else { 0 };
        (narrow(a) << to.bits | narrow(b) | above) & mask(32)
    };
    Ok(Box::new(Lanes::new(operands.destination(0)?, &sources, Box::new(compute))))
}
