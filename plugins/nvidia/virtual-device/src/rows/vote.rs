//! Collective operations of a warp: votes, matches, elections, integer reductions.

use crate::machine::{DeviceFaultKind, Operation, Running, each};
use crate::program::{Form, Operands, Row, Semantics, Type, mask, sign_extend};

pub(super) const ROWS: &[Row] = &[
    Row { name: "vote.sync", modifiers: "all any uni ballot", types: "pred b32", semantics: Semantics::Warp(vote) },
    Row { name: "activemask", modifiers: "", types: "b32", semantics: Semantics::Warp(active_mask) },
    Row { name: "match.any.sync", modifiers: "", types: "b32 b64", semantics: Semantics::Warp(match_any) },
    Row { name: "match.all.sync", modifiers: "", types: "b32 b64", semantics: Semantics::Warp(match_all) },
    Row { name: "elect.sync", modifiers: "", types: "", semantics: Semantics::Warp(elect) },
    Row {
        name: "redux.sync",
        modifiers: "add min max and or xor",
        types: "b32 u32 s32",
        semantics: Semantics::Warp(reduce),
    },
];

fn word(form: &Form<'_>) -> Type {
    Type::named("u32").unwrap_or(form.ty())
}

fn vote(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(3..=3)?;
    let &[kind] = form.words.as_slice() else { return Err(form.unknown()) };
    let counts: fn(u32, u32) -> u64 = match kind {
        "all" => |yes, all| u64::from(yes == all),
        "any" => |yes, _| u64::from(yes != 0),
        "uni" => |yes, all| u64::from(yes == all || yes == 0),
        _ => |yes, _| yes.into(),
    };
    let to = operands.destination(0)?;
    let (by, negated) = operands.predicate(1)?;
    let members = operands.source(2, word(form))?;
    Ok(each(move |warp| {
        let members = warp.members(members)? & warp.active;
        let mut yes = 0;
        for lane in warp.lanes() {
            yes |= u32::from((warp.read_defined(by, lane, "the vote")? & 1 == 1) != negated) << lane;
        }
        let result = counts(yes, members);
        warp.lanes().for_each(|lane| warp.set(to, lane, result));
        Ok(())
    }))
}

fn active_mask(_: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(1..=1)?;
    let to = operands.destination(0)?;
    Ok(each(move |warp| {
        let active = warp.active.into();
        warp.lanes().for_each(|lane| warp.set(to, lane, active));
        Ok(())
    }))
}

/// Returns the index and the value of the register for each active lane.
fn values(warp: &Running<'_>, register: u32, ty: Type) -> Result<Vec<(usize, u64)>, DeviceFaultKind> {
    let value = |lane| Ok((lane, warp.read_defined(register, lane, "the value to compare")? & mask(ty.bits)));
    warp.lanes().map(value).collect()
}

fn match_any(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(3..=3)?;
    let (ty, to) = (form.ty(), operands.destination(0)?);
    let (from, members) = (operands.source(1, ty)?, operands.source(2, word(form))?);
    Ok(each(move |warp| {
        warp.members(members)?;
        let all = values(warp, from, ty)?;
        for &(lane, lane_value) in &all {
            let same =
                all.iter().filter(|(_, value)| *value == lane_value).fold(0u64, |mask, (other, _)| mask | 1 << other);
            warp.set(to, lane, same);
        }
        Ok(())
    }))
}

fn match_all(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(3..=3)?;
    let (ty, [to, is_same]) = (form.ty(), operands.destination_pair(0)?);
    let (from, members) = (operands.source(1, ty)?, operands.source(2, word(form))?);
    Ok(each(move |warp| {
        let members = warp.members(members)?;
        let all = values(warp, from, ty)?;
        let same = all.windows(2).all(|pair| pair[0].1 == pair[1].1);
        for (lane, _) in all {
            warp.set(to, lane, if same { members.into() } else { 0 });
            warp.set(is_same, lane, same.into());
        }
        Ok(())
    }))
}

/// Decodes `elect.sync`, which elects the lowest active lane; PTX permits any deterministic choice.
fn elect(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(2..=2)?;
    let [to, is_it] = operands.destination_pair(0)?;
    let members = operands.source(1, word(form))?;
    Ok(each(move |warp| {
        warp.members(members)?;
        let leader = warp.active.trailing_zeros();
        for lane in warp.lanes() {
            warp.set(to, lane, leader.into());
            warp.set(is_it, lane, u64::from(lane as u32 == leader));
        }
        Ok(())
    }))
}

fn reduce(form: &Form<'_>, operands: &mut Operands<'_>) -> Result<Box<dyn Operation>, String> {
    operands.expect(3..=3)?;
    let &[operation] = form.words.as_slice() else { return Err(form.unknown()) };
    let ty = form.ty();
    let less = move |a: u64, b: u64| match ty.is_signed() {
        true => sign_extend(a, ty.bits) < sign_extend(b, ty.bits),
        false => a < b,
    };
    let joined: Box<dyn Fn(u64, u64) -> u64 + Send + Sync> = match operation {
        "add" => Box::new(u64::wrapping_add),
        "and" => Box::new(|a, b| a & b),
        "or" => Box::new(|a, b| a | b),
        "xor" => Box::new(|a, b| a ^ b),
        "min" => Box::new(move |a, b| if less(b, a) { b } else { a }),
        _ => Box::new(move |a, b| if less(a, b) { b } else { a }),
    };
    let to = operands.destination(0)?;
    let (from, members) = (operands.source(1, ty)?, operands.source(2, word(form))?);
    Ok(each(move |warp| {
        warp.members(members)?;
        let all = values(warp, from, ty)?;
        let result = all.iter().map(|(_, value)| *value).reduce(&joined).unwrap_or(0);
        warp.lanes().for_each(|lane| warp.set(to, lane, result));
        Ok(())
    }))
}
