//! Instructions on bits: logic, shifts, bit fields and byte permutes.

use super::{one, three, two};
use crate::machine::{Compute, Lanes, Operation, PartialLanes};
use crate::program::{Form, Operands, Row, Semantics, Type, mask, sign_extend};

const LOGIC: &str = "pred b16 b32 b64";
const WIDE: &str = "b32 b64 u32 s32 u64 s64";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "and",
        modifiers: "",
        types: LOGIC,
        semantics: Semantics::Bitwise(2, |form| two(form.ty(), |a, b| a & b)),
    },
    Row {
        name: "or",
        modifiers: "",
        types: LOGIC,
        semantics: Semantics::Bitwise(2, |form| two(form.ty(), |a, b| a | b)),
    },
    Row {
        name: "xor",
        modifiers: "",
        types: LOGIC,
        semantics: Semantics::Bitwise(2, |form| two(form.ty(), |a, b| a ^ b)),
    },
    Row { name: "not", modifiers: "", types: LOGIC, semantics: Semantics::Bitwise(1, |form| one(form.ty(), |a| !a)) },
    Row { name: "cnot", modifiers: "", types: LOGIC, semantics: Semantics::Lanes(1, none_set) },
    Row { name: "shl", modifiers: "", types: "b16 b32 b64", semantics: Semantics::Warp(shift_left) },
    Row {
        name: "shr",
        modifiers: "",
        types: "b16 b32 b64 u16 u32 u64 s16 s32 s64",
        semantics: Semantics::Warp(shift_right),
    },
    Row { name: "shf", modifiers: "l r clamp wrap", types: "b32", semantics: Semantics::Lanes(3, funnel) },
    Row { name: "lop3", modifiers: "", types: "b32", semantics: Semantics::Lanes(4, table) },
    Row { name: "prmt", modifiers: "f4e b4e rc8 ecl ecr rc16", types: "b32", semantics: Semantics::Warp(permutation) },
    Row { name: "bfe", modifiers: "", types: WIDE, semantics: Semantics::Lanes(3, extract) },
    Row { name: "bfi", modifiers: "", types: WIDE, semantics: Semantics::Warp(insert) },
    Row { name: "bmsk", modifiers: "clamp wrap", types: "b32", semantics: Semantics::Lanes(2, field_mask) },
    Row { name: "szext", modifiers: "clamp wrap", types: "u32 s32", semantics: Semantics::Lanes(2, extend) },
    Row { name: "popc", modifiers: "", types: WIDE, semantics: Semantics::Lanes(1, count) },
    Row { name: "clz", modifiers: "", types: WIDE, semantics: Semantics::Lanes(1, leading) },
    Row { name: "bfind", modifiers: "shiftamt", types: WIDE, semantics: Semantics::Lanes(1, find) },
    Row { name: "brev", modifiers: "", types: WIDE, semantics: Semantics::Lanes(1, reverse) },
];

fn none_set(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    one(ty, move |a| u64::from(a & mask(ty.bits) == 0))
}

/// Decodes a shift instruction. `shift` computes the result from the type, the value and the distance, which always has
/// 32 bits.
fn shift(
    form: &Form<'_>,
    operands: &mut Operands<'_>,
    shift: impl Fn(Type, u64, u64) -> u64 + Send + Sync + 'static,
) -> Result<Box<dyn Operation>, String> {
    operands.expect(3..=3)?;
    let ty = form.ty();
    let distance = Type::named("u32").unwrap_or(ty);
    let from = [operands.source(1, ty)?, operands.source(2, distance)?];
    Ok(Box::new(Lanes::new(operands.destination(0)?, &from, Box::new(move |[a, b, ..]| shift(ty, a, b & mask(32))))))
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

/// Returns the function by which a lane computes a funnel shift (`shf`) of the 64 bits `b:a`: the high word after a
/// left shift, the low word after a right shift. Returns `None` for invalid modifiers.
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

/// Returns the function by which a lane computes `lop3`: any bitwise function of three operands, given by its truth
/// table of eight bits.
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

const MODES: [&str; 6] = ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];

/// Decodes a byte permute (`prmt`): each byte of the result is one of the eight bytes of `b:a`, chosen by a four-bit
/// selector of operand `c` or by the mode. The highest bit of a selector replicates the byte's sign.
fn permutation(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(4..=4)?;
    if form.words.len() > 1 {
        return Err(form.unknown());
    }
    let mode = MODES.into_iter().find(|mode| form.has(mode));
    let ty = form.ty();
    let from = [operands.source(1, ty)?, operands.source(2, ty)?, operands.source(3, ty)?];
    let compute = Box::new(move |[a, b, c, _]: [u64; 4]| {
        let both = (b & mask(32)) << 32 | a & mask(32);
        let bytes = (0..4).map(|byte_index| {
            let selector = byte_selector(mode, c, byte_index);
            let byte = both >> (8 * (selector & 7)) & 0xff;
            let byte = if selector & 8 == 0 { byte } else { (byte >> 7) * 0xff };
            byte << (8 * byte_index)
        });
        bytes.fold(0, |word, byte| word | byte)
    });
    Ok(Box::new(PartialLanes::moves(operands.destination(0)?, &from, 2, compute)))
}

/// Returns the four-bit selector of result byte `byte_index`, from the control operand `c` and the mode.
fn byte_selector(mode: Option<&str>, c: u64, byte_index: u64) -> u64 {
    let at = c & 3;
    match mode {
        Some("f4e") => at + byte_index,
        Some("b4e") => (at + 8 - byte_index) & 7,
        Some("rc8") => at,
        Some("ecl") => byte_index.max(at),
        Some("ecr") => byte_index.min(at),
        Some(_) => (at & 1) * 2 + (byte_index & 1),
        None => c >> (4 * byte_index) & 0xf,
    }
}

/// Returns the function by which a lane computes `bfe`, which extracts a bit field. For signed types, the field's
/// highest bit is extended, or the word's if the field ends beyond the word.
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

/// Decodes `bfi`, which inserts the low bits of `a` into a bit field of `b`; `c` is the field's first bit and `d` its
/// length.
fn insert(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(5..=5)?;
    let ty = form.ty();
    let length = Type::named("u32").unwrap_or(ty);
    let from =
        [operands.source(1, ty)?, operands.source(2, ty)?, operands.source(3, length)?, operands.source(4, length)?];
    let compute = Box::new(move |[a, b, c, d]: [u64; 4]| {
        let (at, length) = (c & 0xff, d & 0xff);
        if length == 0 || at >= u64::from(ty.bits) {
            return b;
        }
        let field = mask(length.min(64) as u32) << at;
        (b & !field | a << at & field) & mask(ty.bits)
    });
    Ok(Box::new(PartialLanes::moves(operands.destination(0)?, &from, 2, compute)))
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

/// Returns the function by which a lane computes `bfind`: the position of the highest bit that differs from the sign,
/// or all ones if there is none.
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
