//! Instructions that compare values or select one of two values.

use crate::machine::{Compute, DeviceFaultKind, Next, Operation, Running, each};
use crate::machine::{Destination, LANES};
use crate::program::{Class, Form, Operands, Row, Semantics, Type, mask, sign_extend};

const COMPARISONS: &str = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz";
const TYPES: &str = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";

pub(super) const ROWS: &[Row] = &[
    Row { name: "setp", modifiers: COMPARISONS, types: TYPES, semantics: Semantics::Warp(set_predicate) },
    Row { name: "set", modifiers: COMPARISONS, types: TYPES, semantics: Semantics::Lanes(2, set) },
    Row {
        name: "selp",
        modifiers: "",
        types: "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64",
        semantics: Semantics::Warp(select),
    },
    Row { name: "slct", modifiers: "ftz", types: TYPES, semantics: Semantics::Lanes(3, by_sign) },
];

/// How two values compare; `Unordered` if one of them is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Less,
    Equal,
    Greater,
    Unordered,
}

impl From<std::cmp::Ordering> for Order {
    fn from(order: std::cmp::Ordering) -> Self {
        match order {
            std::cmp::Ordering::Less => Self::Less,
            std::cmp::Ordering::Equal => Self::Equal,
            std::cmp::Ordering::Greater => Self::Greater,
        }
    }
}

fn order(ty: Type, flushes: bool, a: u64, b: u64) -> Order {
    let (a, b) = (a & mask(ty.bits), b & mask(ty.bits));
    match ty.class {
        Class::Float(float) => {
            let [a, b] = [a, b].map(|bits| float.decode(if flushes { float.flushed(bits) } else { bits }));
            a.partial_cmp(&b).map_or(Order::Unordered, Order::from)
        }
        Class::Signed => sign_extend(a, ty.bits).cmp(&sign_extend(b, ty.bits)).into(),
        _ => a.cmp(&b).into(),
    }
}

/// Returns the orders for which the comparison `word`, such as `ltu`, is true; `None` if `word` is not a comparison.
fn holds(word: &str) -> Option<&'static [Order]> {
    use Order::{Equal, Greater, Less, Unordered};
    Some(match word {
        "eq" => &[Equal],
        "ne" => &[Less, Greater],
        "lt" | "lo" => &[Less],
        "le" | "ls" => &[Less, Equal],
        "gt" | "hi" => &[Greater],
        "ge" | "hs" => &[Greater, Equal],
        "equ" => &[Equal, Unordered],
        "neu" => &[Less, Greater, Unordered],
        "ltu" => &[Less, Unordered],
        "leu" => &[Less, Equal, Unordered],
        "gtu" => &[Greater, Unordered],
        "geu" => &[Greater, Equal, Unordered],
        "num" => &[Less, Equal, Greater],
        "nan" => &[Unordered],
        _ => return None,
    })
}

/// Returns the function that compares two elements of the opcode's last type; `None` if the opcode has no comparison.
fn comparison(form: &Form<'_>) -> Option<impl Fn(u64, u64) -> bool + Send + Sync + use<>> {
    let ty = form.types.last().copied()?;
    let (holds, flushes) = (form.find(holds)?, form.has("ftz"));
    Some(move |a, b| holds.contains(&order(ty, flushes, a, b)))
}

/// Decodes `setp`. For example `setp.lt.and.f32 p|q, a, b, c` sets `p = (a < b) and c` and `q = not (a < b) and c`. For
/// packed types of two elements, `p` is the result for the first element and `q` for the second.
fn set_predicate(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let ty = form.ty();
    let compares = comparison(form).ok_or_else(|| form.unknown())?;
    let combined = ["and", "or", "xor"].into_iter().find(|word| form.has(word));
    operands.expect(if combined.is_some() { 4..=4 } else { 3..=3 })?;
    let to = operands.destination_pair(0)?;
    let [a, b] = [operands.source(1, ty)?, operands.source(2, ty)?];
    let other = combined.map(|word| operands.predicate(3).map(|predicate| (word, predicate))).transpose()?;
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let [x, y] = [a, b].map(|register| warp.registers.get(register, lane));
            let mut defined = [a, b].iter().all(|&register| warp.registers.is_defined(register, lane));
            let first = compares(x, y);
            let second = if ty.element_count == 2 { compares(x >> ty.bits, y >> ty.bits) } else { !first };
            let combine = |result: bool, warp: &Running<'_>| match other {
                None => result,
                Some((word, (register, negated))) => {
                    let other = (warp.registers.get(register, lane) & 1 == 1) != negated;
                    match word {
                        "and" => result && other,
                        "or" => result || other,
                        _ => result != other,
                    }
                }
            };
            defined &= other.is_none_or(|(_, (register, _))| warp.registers.is_defined(register, lane));
            for (to, result) in to.into_iter().zip([first, second]) {
                let result = combine(result, warp);
                put(warp, to, lane, defined, result.into());
            }
        }
        Ok(())
    }))
}

fn put(warp: &mut Running<'_>, to: Option<Destination>, lane: usize, defined: bool, value: u64) {
    match to {
        Some(to) if !defined => warp.registers.unset(to.register, lane),
        to => warp.set(to, lane, value),
    }
}

/// Returns the function by which a lane computes `set`. If the comparison is true, the result is all ones (1.0 for a
/// floating-point type), otherwise zero.
fn set(form: &Form<'_>) -> Option<Compute> {
    let &[to, ty] = form.types.as_slice() else { return None };
    if ["and", "or", "xor"].iter().any(|word| form.has(word)) {
        return None;
    }
    let compares = comparison(form)?;
    let result = match to.float() {
        Some(float) => float.round(1.0, crate::float::Rounding::Even, false),
        None => mask(to.bits),
    };
    super::two(ty, move |a, b| if compares(a, b) { result } else { 0 })
}

/// A select instruction (`selp`) of one of two operands by a predicate. The operand that is not selected may be
/// undefined.
struct Select {
    to: Option<Destination>,
    choices: [u32; 2],
    by: (u32, bool),
}

fn select(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(4..=4)?;
    let choices = [operands.source(1, form.ty())?, operands.source(2, form.ty())?];
    Ok(Box::new(Select { to: operands.destination(0)?, choices, by: operands.predicate(3)? }))
}

impl Operation for Select {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let Some(to) = self.to else { return Ok(Next::Continue) };
        let (by, negated) = self.by;
        let mut values = [0; LANES];
        let mut defined = 0;
        for (lane, value) in values.iter_mut().enumerate() {
            let chosen = self.choices[usize::from((warp.registers.get(by, lane) & 1 == 1) == negated)];
            *value = warp.registers.get(chosen, lane) & to.mask;
            defined |= u32::from(warp.registers.is_defined(chosen, lane)) << lane;
        }
        defined &= warp.registers.defined(by);
        warp.registers.write(to.register, warp.active, defined, &values);
        Ok(Next::Continue)
    }
}

/// Returns the function by which a lane computes `slct`: the first operand if the third is not negative, otherwise the
/// second.
fn by_sign(form: &Form<'_>) -> Option<Compute> {
    let by = form.types.last().copied().filter(|_| form.types.len() == 2)?;
    match by.class {
        Class::Float(float) => Some(Box::new(move |[a, b, c, _]| if float.decode(c) >= 0.0 { a } else { b })),
        _ => Some(Box::new(move |[a, b, c, _]| if sign_extend(c, by.bits) >= 0 { a } else { b })),
    }
}
