//! Atomic operations on global, shared and generic memory. Lanes execute in the order of their index, an order that
//! hardware allows, too.

use tilewright_target::Direction;

use super::float;
use crate::machine::{Accessor, CachePath, Compute, DeviceFaultKind, LANES, Operation, PtxSpace, Running, each};
use crate::program::{Form, Operands, Row, Semantics, Type, mask, sign_extend};

const MODIFIERS: &str = "relaxed acquire release acq_rel cta cluster gpu sys global shared shared::cta and or xor cas \
                         exch add inc dec min max noftz v2 v4 v8 L1:: L2::";
const TYPES: &str = "b16 b32 b64 u32 u64 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64";

pub(super) const ROWS: &[Row] = &[
    Row { name: "atom", modifiers: MODIFIERS, types: TYPES, semantics: Semantics::Warp(update) },
    Row { name: "red", modifiers: MODIFIERS, types: TYPES, semantics: Semantics::Warp(update) },
];

/// Returns the function that computes an atomic operation's new value from the old value and one or two operands;
/// `None` for an invalid combination of modifiers and types.
pub(super) fn updated(form: &Form<'_>) -> Option<Compute> {
    let ty = form.ty();
    let number =
        move |bits: u64| if ty.is_signed() { i128::from(sign_extend(bits, ty.bits)) } else { i128::from(bits) };
    let word = form.words.iter().find(|word| OPERATIONS.contains(word))?;
    let is_float = ty.float().is_some();
    let plain = || Form { words: Vec::new(), types: form.types.clone(), ..*form };
    match *word {
        "add" if is_float => float::add(&plain()),
        // Of the floating-point types, only those of 16 bits have extrema.
        "min" | "max" if is_float && ty.bits == 16 => float::extreme(&plain(), *word == "max"),
        "min" | "max" | "inc" | "dec" | "and" | "or" | "xor" if is_float => None,
        "add" => Some(Box::new(|[old, b, ..]| old.wrapping_add(b))),
        "and" => Some(Box::new(|[old, b, ..]| old & b)),
        "or" => Some(Box::new(|[old, b, ..]| old | b)),
        "xor" => Some(Box::new(|[old, b, ..]| old ^ b)),
        "exch" => Some(Box::new(|[_, b, ..]| b)),
        "cas" => Some(Box::new(|[old, b, c, _]| if old == b { c } else { old })),
        "min" => Some(Box::new(move |[old, b, ..]| if number(b) < number(old) { b } else { old })),
        "max" => Some(Box::new(move |[old, b, ..]| if number(b) > number(old) { b } else { old })),
        "inc" => Some(Box::new(|[old, b, ..]| if old >= b { 0 } else { old + 1 })),
        "dec" => Some(Box::new(|[old, b, ..]| if old == 0 || old > b { b } else { old - 1 })),
        _ => None,
    }
}

const OPERATIONS: [&str; 10] = ["and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"];

/// Returns the number of adjacent elements that each lane updates: 1, or 2, 4 or 8 for floating-point vectors.
fn elements(form: &Form<'_>) -> Result<usize, String> {
    let Some(count) = form.find(|word| word.strip_prefix('v')?.parse().ok()) else { return Ok(1) };
    let fits = form.ty().float().is_some() && form.ty().width() as usize * count <= 128;
    if fits { Ok(count) } else { Err(form.unknown()) }
}

fn update(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let compute = updated(form).filter(|_| form.types.len() == 1).ok_or_else(|| form.unknown())?;
    let (ty, count) = (form.ty(), elements(form)?);
    if count == 1 && ty.float().is_some() && (form.has("min") || form.has("max")) {
        return Err(form.unknown());
    }
    let gives = form.opcode.starts_with("atom");
    let (first, terms) = (usize::from(gives), if form.has("cas") { 2 } else { 1 });
    operands.expect(first + 1 + terms..=first + 2 + terms)?;
    let to = if gives { operands.destinations(0)? } else { vec![None; count] };
    let address = operands.address(first)?;
    let from = (0..terms).map(|term| operands.sources(first + 1 + term, ty)).collect::<Result<Vec<_>, _>>()?;
    if to.len() != count || from.iter().any(|registers| registers.len() != count) {
        return Err(format!("`{}` takes groups of {count} registers", form.opcode));
    }
    let space = form.find(PtxSpace::named).unwrap_or(PtxSpace::Generic);
    let bytes = u64::from(ty.width() / 8);
    let path = if form.acquires_beyond_block() { CachePath::Acquired } else { CachePath::Bypassed };
    Ok(each(move |warp| {
        let mut addresses = [None; LANES];
        for lane in warp.lanes() {
            let (space, start) = warp.resolve(space, &address, lane)?;
            if !start.is_multiple_of(bytes * count as u64) {
                return Err(misaligned((space, start), bytes * count as u64, lane));
            }
            for (element, &to) in to.iter().enumerate() {
                let mut values = [0; 4];
                for (value, registers) in values[1..].iter_mut().zip(&from) {
                    let register = registers[element];
                    *value = warp.read_defined(register, lane, "an operand of the update")? & mask(ty.width());
                }
                let old = swap(warp, (space, start + element as u64 * bytes), ty, lane, |old| {
                    values[0] = old;
                    compute(values) & mask(ty.width())
                })?;
                warp.set(to, lane, ty.extend_all_elements(old));
            }
            addresses[lane] = Some((space, start));
        }
        let global = addresses.map(|resolved| resolved.filter(|(space, _)| *space == PtxSpace::Global));
        warp.count((Direction::Store, path), &global, bytes as u32 * count as u32)
    }))
}

fn misaligned((space, address): (PtxSpace, u64), alignment: u64, lane: usize) -> DeviceFaultKind {
    DeviceFaultKind::Misaligned { direction: Direction::Store, space, address, alignment, lane: lane as u32 }
}

/// Replaces the value of type `ty` at an address by `update` of it, for one lane, and returns the old value.
fn swap(
    warp: &mut Running<'_>,
    (space, address): (PtxSpace, u64),
    ty: Type,
    lane: usize,
    update: impl FnOnce(u64) -> u64,
) -> Result<u64, DeviceFaultKind> {
    let bytes = (ty.width() / 8) as usize;
    let mut word = [0u8; 8];
    if space == PtxSpace::Shared {
        let who = Accessor { atomic: true, ..warp.accessor(lane) };
        warp.shared.load(address, &mut word[..bytes], &who)?;
        let old = u64::from_le_bytes(word);
        warp.shared.store(address, &update(old).to_le_bytes()[..bytes], true, &who)?;
        return Ok(old);
    }
    let memory = warp.bytes(Direction::Store, (space, address), bytes as u64, lane)?;
    word[..bytes].copy_from_slice(memory);
    let old = u64::from_le_bytes(word);
    memory.copy_from_slice(&update(old).to_le_bytes()[..bytes]);
    Ok(old)
}
