//! Bits: logic, shifts, fields, bytes.

use super::{one, three, two};
use crate::machine::{DeviceFaultKind, Lanes, Next, Operation, Place, Running};
use crate::program::{Compute, Form, Meaning, Operands, Row, Type, mask, sign_extend};

const LOGIC: &str = "pred b16 b32 b64";
const WIDE: &str = "b32 b64 u32 s32 u64 s64";

pub(super) const ROWS: &[Row] = &[
    Row { name: "and", modifiers: "", types: LOGIC, meaning: Meaning::Lanes(2, |form| two(form.ty(), |a, b| a & b)) },
    Row { name: "or", modifiers: "", types: LOGIC, meaning: Meaning::Lanes(2, |form| two(form.ty(), |a, b| a | b)) },
    Row { name: "xor", modifiers: "", types: LOGIC, meaning: Meaning::Lanes(2, |form| two(form.ty(), |a, b| a ^ b)) },
    Row { name: "not", modifiers: "", types: LOGIC, meaning: Meaning::Lanes(1, |form| one(form.ty(), |a| !a)) },
    Row { name: "cnot", modifiers: "", types: LOGIC, meaning: Meaning::Lanes(1, none_set) },
    Row { name: "shl", modifiers: "", types: "b16 b32 b64", meaning: Meaning::Warp(shift_left) },
    Row {
        name: "shr",
        modifiers: "",
        types: "b16 b32 b64 u16 u32 u64 s16 s32 s64",
        meaning: Meaning::Warp(shift_right),
    },
    Row { name: "shf", modifiers: "l r clamp wrap", types: "b32", meaning: Meaning::Lanes(3, funnel) },
    Row { name: "lop3", modifiers: "", types: "b32", meaning: Meaning::Lanes(4, table) },
    Row { name: "prmt", modifiers: "f4e b4e rc8 ecl ecr rc16", types: "b32", meaning: Meaning::Warp(permutation) },
    Row { name: "bfe", modifiers: "", types: WIDE, meaning: Meaning::Lanes(3, extract) },
    Row { name: "bfi", modifiers: "", types: WIDE, meaning: Meaning::Lanes(4, insert) },
    Row { name: "bmsk", modifiers: "clamp wrap", types: "b32", meaning: Meaning::Lanes(2, field_mask) },
    Row { name: "szext", modifiers: "clamp wrap", types: "u32 s32", meaning: Meaning::Lanes(2, extend) },
    Row { name: "popc", modifiers: "", types: WIDE, meaning: Meaning::Lanes(1, count) },
    Row { name: "clz", modifiers: "", types: WIDE, meaning: Meaning::Lanes(1, leading) },
    Row { name: "bfind", modifiers: "shiftamt", types: WIDE, meaning: Meaning::Lanes(1, find) },
    Row { name: "brev", modifiers: "", types: WIDE, meaning: Meaning::Lanes(1, reverse) },
];

fn none_set(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    one(ty, move |a| u64::from(a & mask(ty.bits) == 0))
}

/// A shift, whose distance has 32 bits whatever its type.
fn shift(
    form: &Form<'_>,
    operands: &mut Operands<'_>,
    shift: impl Fn(Type, u64, u64) -> u64 + Send + Sync + 'static,
) -> Result<Box<dyn Operation>, String> {
    operands.expect(3..=3)?;
    let ty = form.ty();
    let distance = Type::named("u32").unwrap_or(ty);
    let from = [operands.source(1, ty)?, operands.source(2, distance)?];
    Ok(Box::new(Lanes::new(operands.place(0)?, &from, Box::new(move |[a, b, ..]| shift(ty, a, b & mask(32))))))
}

fn shift_left(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    shift(form, operands, |ty, a, by| if by >= ty.bits.into() { 0 } else { a << by & mask(ty.bits) })
}

fn shift_right(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    shift(form, operands, |ty, a, by| {
        let most = by.min(63) as u32;
        match ty.is_signed() {
            true => (sign_extend(a, ty.bits) >> most) as u64,
            false if by >= ty.bits.into() => 0,
            false => (a & mask(ty.bits)) >> most,
        }
    })
}

/// `b:a` shifted: its high word to the left, its low word to the right.
fn funnel(form: &Form<'_>) -> Option<Compute> {
    let clamps = match (form.has("clamp"), form.has("wrap")) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let left = form.has("l");
    if left == form.has("r") {
        return None;
    }
    three(form.ty(), move |a, b, c| {
        let by = if clamps { (c & mask(32)).min(32) } else { c & 31 };
        let both = (b & mask(32)) << 32 | a & mask(32);
        if left { u64::from(((u128::from(both) << by) >> 32) as u32) } else { (both >> by) & mask(32) }
    })
}

/// Any function of three bits, by its table.
fn table(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    Some(Box::new(move |[a, b, c, table]| {
        let row = |number: u64| {
            let bit = |word: u64, at: u64| if number >> at & 1 == 1 { word } else { !word };
            if table >> number & 1 == 1 { bit(a, 2) & bit(b, 1) & bit(c, 0) } else { 0 }
        };
        (0..8).map(row).fold(0, |all, row| all | row) & mask(ty.bits)
    }))
}

/// Bytes of `b:a` by selectors of four bits, whose highest repeats the byte's sign; or by a mode.
struct Permute {
    to: Option<Place>,
    from: [u32; 3],
    mode: Option<&'static str>,
}

const MODES: [&str; 6] = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];

fn permutation(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(4..=4)?;
    if form.words.len() > 1 {
        return Err(form.unknown());
    }
    let mode = MODES.into_iter().find(|mode| form.has(mode));
    let ty = form.ty();
    let from = [operands.source(1, ty)?, operands.source(2, ty)?, operands.source(3, ty)?];
    Ok(Box::new(Permute { to: operands.place(0)?, from, mode }))
}

impl Permute {
    /// The selector of a byte of the result.
    fn selector(&self, c: u64, place: u64) -> u64 {
        let at = c & 3;
        match self.mode {
            Some("f4e") => at + place,
            Some("b4e") => (at + 8 - place) & 7,
            Some("rc8") => at,
            Some("ecl") => place.max(at),
            Some("ecr") => place.min(at),
            Some(_) => (at & 1) * 2 + (place & 1),
            None => c >> (4 * place) & 0xf,
        }
    }
}

impl Operation for Permute {
    fn execute(&self, warp: &mut Running<'_>) -> Result<Next, DeviceFaultKind> {
        let Some(to) = self.to else { return Ok(Next::Follow) };
        for lane in warp.lanes() {
            let [a, b, c] = self.from.map(|register| warp.registers.get(register, lane));
            let both = (b & mask(32)) << 32 | a & mask(32);
            let (mut word, mut defined) = (0, warp.registers.is_defined(self.from[2], lane));
            for place in 0..4 {
                let selector = self.selector(c, place);
                // Of an operand of which no byte is taken it does not matter whether it is defined.
                let taken = self.from[usize::from(selector & 7 >= 4)];
                defined &= warp.registers.is_defined(taken, lane);
                let byte = both >> (8 * (selector & 7)) & 0xff;
                let byte = if selector & 8 == 0 { byte } else { (byte >> 7) * 0xff };
                word |= byte << (8 * place);
            }
            match defined {
                true => warp.registers.set(to.register, lane, word & to.mask),
                false => warp.registers.unset(to.register, lane),
            }
        }
        Ok(Next::Follow)
    }
}

/// A field of a word, with its sign, or the word's, above it where the type has one.
fn extract(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    three(ty, move |a, b, c| {
        let (at, length, a) = (b & 0xff, c & 0xff, a & mask(ty.bits));
        if length == 0 {
            return 0;
        }
        let top = (at + length - 1).min(u64::from(ty.bits) - 1);
        let sign = ty.is_signed() && a >> top & 1 == 1;
        let field = if at >= u64::from(ty.bits) { 0 } else { a >> at };
        let width = if at >= u64::from(ty.bits) { 0 } else { (u64::from(ty.bits) - at).min(length) as u32 };
        let field = if width == 0 { 0 } else { field & mask(width) };
        let above = if width == 0 { u64::MAX } else { !mask(width) };
        field | if sign { above } else { 0 }
    })
}

/// The low bits of `a` in a field of `b`.
fn insert(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    Some(Box::new(move |[a, b, c, d]| {
        let (at, length) = (c & 0xff, d & 0xff);
        if length == 0 || at >= u64::from(ty.bits) {
            return b;
        }
        let field = mask(length.min(64) as u32) << at;
        (b & !field | a << at & field) & mask(ty.bits)
    }))
}

fn field_mask(form: &Form<'_>) -> Option<Compute> {
    let wraps = form.has("wrap");
    two(form.ty(), move |a, b| {
        let (at, length) = if wraps { (a & 31, b & 31) } else { (a & mask(32), b & mask(32)) };
        let field = if length == 0 { 0 } else { mask(length.min(32) as u32) };
        if at >= 32 { 0 } else { (field << at) & mask(32) }
    })
}

fn extend(form: &Form<'_>) -> Option<Compute> {
    let (ty, wraps) = (form.ty(), form.has("wrap"));
    two(ty, move |a, b| match if wraps { b & 31 } else { b & mask(32) } {
        0 => 0,
        length if length >= 32 => a,
        length if ty.is_signed() => sign_extend(a, length as u32) as u64,
        length => a & mask(length as u32),
    })
}

fn count(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    one(ty, move |a| u64::from((a & mask(ty.bits)).count_ones()))
}

fn leading(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    one(ty, move |a| u64::from((a & mask(ty.bits)).leading_zeros() - (64 - ty.bits)))
}

/// The highest bit that differs from the sign; all ones where there is none.
fn find(form: &Form<'_>) -> Option<Compute> {
    let (ty, shifts) = (form.ty(), form.has("shiftamt"));
    one(ty, move |a| {
        let a = a & mask(ty.bits);
        let a = if ty.is_signed() && a >> (ty.bits - 1) & 1 == 1 { !a & mask(ty.bits) } else { a };
        match a.checked_ilog2() {
            None => u64::MAX,
            Some(at) if shifts => u64::from(ty.bits - 1 - at),
            Some(at) => at.into(),
        }
    })
}

fn reverse(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    one(ty, move |a| a.reverse_bits() >> (64 - ty.bits))
}
