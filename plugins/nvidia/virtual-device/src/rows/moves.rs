//! Instructions that move values between registers, pack and unpack register groups, and convert addresses between
//! spaces.

use crate::machine::{Compute, Lanes, Operation, PartialLanes, PtxSpace, each};
use crate::program::{Form, Operands, Row, Semantics, Type, mask};

const TYPES: &str = "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64";

pub(super) const ROWS: &[Row] = &[
    Row { name: "mov", modifiers: "", types: TYPES, semantics: Semantics::Warp(copy) },
    Row {
        name: "cvta",
        modifiers: "to global const shared shared::cta local param param::entry",
        types: "u32 u64",
        semantics: Semantics::Lanes(1, generic_address),
    },
    Row {
        name: "isspacep",
        modifiers: "global const shared shared::cta local param param::entry",
        types: "",
        semantics: Semantics::Warp(is_in_space),
    },
];

fn copy(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let ty = form.ty();
    if let Some(shift) = operands.name(1).ok().and_then(clock_shift) {
        let to = operands.destination(0)?;
        return Ok(each(move |warp| {
            let now = warp.clock >> shift;
            warp.lanes().for_each(|lane| warp.set(to, lane, now));
            Ok(())
        }));
    }
    match (operands.is_group(0), operands.is_group(1)) {
        (false, false) => {
            let to = operands.destination(0)?;
            let from = operands.source(1, ty)?;
            Ok(Box::new(PartialLanes::moves(to, &[from], 1, Box::new(|[a, ..]| a))))
        }
        (true, false) => unpack(ty, operands),
        (false, true) => pack(ty, operands),
        (true, true) => Err(form.unknown()),
    }
}

/// Returns the lowest bit of a clock that the special register has; `None` for registers of no clock.
fn clock_shift(name: &str) -> Option<u32> {
    match name {
        "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo" => Some(0),
        "%clock_hi" | "%globaltimer_hi" => Some(32),
        _ => None,
    }
}

/// Returns the number of bits of each element if a value of type `ty` is split into `elements` registers of equal
/// width.
fn element_bits(ty: Type, elements: usize) -> Result<u32, String> {
    let bits = ty.width() / (elements as u32).max(1);
    if [8, 16, 32].contains(&bits) && bits as usize * elements == ty.width() as usize {
        return Ok(bits);
    }
    Err(format!("{elements} registers do not share {} bits", ty.width()))
}

fn unpack(ty: Type, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let to = operands.destinations(0)?;
    let from = operands.source(1, ty)?;
    let bits = element_bits(ty, to.len())?;
    Ok(each(move |warp| {
        for lane in warp.lanes() {
            let (value, defined) = (warp.registers.get(from, lane), warp.registers.defined_bits(from, lane));
            for (element, to) in (0..).zip(&to) {
                let Some(to) = to else { continue };
                let [value, defined] = [value, defined].map(|word| word >> (element * bits) & mask(bits));
                warp.registers.set_bits(to.register, lane, value & to.mask, (defined, mask(bits)));
            }
        }
        Ok(())
    }))
}

fn pack(ty: Type, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    let to = operands.destination(0)?;
    let from = operands.sources(1, ty)?;
    let bits = element_bits(ty, from.len())?;
    let compute: Compute = Box::new(move |elements| {
        elements.into_iter().rev().fold(0, |word, element| word << bits | element & mask(bits))
    });
    if from.len() > 4 {
        return Err(format!("a group of {} registers is not supported; at most four", from.len()));
    }
    Ok(Box::new(PartialLanes::moves(to, &from, from.len(), compute)))
}

/// Returns the function by which a lane computes `cvta`, which converts an address in a space to a generic address, or
/// with `.to` a generic address to one in the space.
fn generic_address(form: &Form<'_>) -> Option<Compute> {
    let window = form.find(PtxSpace::named)?.window();
    let to = form.has("to");
    super::one(form.ty(), move |a| if to { a.wrapping_sub(window) } else { a.wrapping_add(window) })
}

fn is_in_space(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let required = form.find(PtxSpace::named).ok_or_else(|| form.unknown())?;
    let address = operands.source(1, Type::named("u64").unwrap_or(form.ty()))?;
    let is_in = move |[address, ..]: [u64; 4]| u64::from(PtxSpace::of_generic(address).0 == required);
    Ok(Box::new(Lanes::new(operands.destination(0)?, &[address], Box::new(is_in))))
}
