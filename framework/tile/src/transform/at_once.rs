//! Copies of boxes that are done when they are issued.
//!
//! A box is loaded and stored by lanes, and is there when its word is done. Where all warps do the same, mbarriers then mean
//! nothing more and go. Where groups of warps do different things, the phase that expects the bytes of copies is arrived at
//! behind the last of them.

use crate::op::name::{tt, ttg, tw};
use std::collections::HashMap;

use crate::import::plain;
use crate::op::Dialects;
use crate::{Attribute, Attributes, Body, BuildError, Op, TileModule, TileViolation, Value, Values};

use super::{Copier, Rewrite, Rewritten, each_function, rewritten};

const LOAD: &str = tw::LOAD_BOX;
/// A program that says which memory a launch maps means copies that go on.
const MAPPED: &str = tw::MAPPED;
const EXPECT: &str = tw::MBARRIER_EXPECT;

/// The program with its copies of boxes done at once.
///
/// # Errors
/// A [`TileViolation`] at a phase that expects other bytes than the copies behind it bring, where groups of warps depend on it.
pub fn at_once(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(body) = &function.body else { return Ok(function.clone()) };
        let all = body.walk(body.root());
        let goes_on = all.iter().any(|&op| body.op(op).name() == MAPPED);
        if goes_on || !all.iter().any(|&op| is_word(body.op(op).name())) {
            return Ok(function.clone());
        }
        let in_groups = all.iter().any(|&op| body.op(op).name() == ttg::WARP_SPECIALIZE);
        let mut last = HashMap::new();
        if in_groups {
            for &op in all.iter().filter(|op| body.op(**op).name() == EXPECT) {
                let copy = last_copy(body, op).map_err(|message| TileViolation::of(function, body.op(op), message))?;
                last.insert(copy, op);
            }
        }
        rewritten(function, dialects, &mut AtOnce { module: &module.attributes, in_groups, last })
    })
}

fn is_word(name: &str) -> bool {
    name.starts_with("tw.mbarrier_") || matches!(name, LOAD | tw::STORE_BOX | tw::AWAIT_BOXES)
}

/// The last of the copies that bring the bytes that a phase expects, which stand behind it in its block.
fn last_copy(body: &Body, expect: Op) -> Result<Op, String> {
    let mbarrier = body.operand(expect, "mbarrier");
    let mut bytes = body.op(expect).attributes.get("bytes").and_then(Attribute::as_integer).unwrap_or(0);
    let block = blocks(body).into_iter().find(|&block| body.ops(block).contains(&expect));
    let ops = block.map_or(&[][..], |block| body.ops(block));
    for &op in ops.iter().skip_while(|op| **op != expect).skip(1) {
        if body.op(op).name() == LOAD && body.operand(op, "mbarrier") == mbarrier {
            bytes -= body.operand(op, "dst").map_or(0, |memory| size(body, memory));
            if bytes == 0 {
                return Ok(op);
            }
        }
    }
    Err("the copies to this mbarrier behind it in its block do not bring the bytes that it expects".to_owned())
}

fn blocks(body: &Body) -> Vec<crate::Block> {
    let inner = body.walk(body.root());
    let regions = inner.iter().flat_map(|op| body.op(*op).regions.iter().copied());
    std::iter::once(body.root()).chain(regions).flat_map(|region| body.blocks(region).to_vec()).collect()
}

/// Bytes of a tensor in memory.
fn size(body: &Body, value: Value) -> i64 {
    let ty = body.ty(value);
    let elements: u64 = ty.as_memory().map_or(0, |memory| memory.shape.iter().product());
    (elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8) as i64
}

struct AtOnce<'m> {
    module: &'m Attributes,
    in_groups: bool,
    /// By copy, the phase that expects it as the last.
    last: HashMap<Op, Op>,
}

impl Rewrite for AtOnce<'_> {
    fn rewrite(&mut self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<bool> {
        match copier.from.op(op).name() {
            LOAD => self.load(op, copier)?,
            tw::STORE_BOX => self.store(op, copier)?,
            tw::AWAIT_BOXES | EXPECT => {}
            name if name.starts_with("tw.mbarrier_") => return Ok(!self.in_groups),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl AtOnce<'_> {
    fn load(&self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Rewritten<()> {
        match copier.from.operand(op, "acts").filter(|active| !copier.from.is_always(*active)) {
            None => self.copied(op, copier)?,
            Some(active) => {
                copier.when(copier.value(active), |copier| {
                    self.copied(op, copier)?;
                    Ok(Values::new())
                })?;
            }
        }
        let Some(&expect) = self.last.get(&op) else { return Ok(()) };
        let [mbarrier, active] = ["mbarrier", "acts"].map(|group| copier.all(copier.from.operands(expect, group)));
        let arrive = copier.to.op(tw::MBARRIER_ARRIVE).operands("mbarrier", &mbarrier).operands("acts", &active);
        arrive.attribute("count", 1).done()?;
        Ok(())
    }

    fn copied(&self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<(), BuildError> {
        let [desc, indices, to] = ["desc", "indices", "dst"].map(|group| copier.all(copier.from.operands(op, group)));
        let memory = to.first().and_then(|&to| copier.to.ty(to).as_memory().cloned());
        let Some(memory) = memory else { return Ok(()) };
        let ty = plain::tensor(&memory, &plain::around(self.module, copier.from, op));
        let load = copier.to.op(tt::DESCRIPTOR_LOAD).operands("desc", &desc).operands("indices", &indices);
        let tensor = load.result(ty).value()?;
        copier.to.op(ttg::LOCAL_STORE).operand(tensor).operands("dst", &to).done().map(drop)
    }

    fn store(&self, op: Op, copier: &mut Copier<'_, '_, '_>) -> Result<(), BuildError> {
        let [desc, indices, from] = ["desc", "indices", "src"].map(|group| copier.all(copier.from.operands(op, group)));
        let memory = from.first().and_then(|&from| copier.to.ty(from).as_memory().cloned());
        let Some(memory) = memory else { return Ok(()) };
        let ty = plain::tensor(&memory, &plain::around(self.module, copier.from, op));
        let tensor = copier.to.op(ttg::LOCAL_LOAD).operands("src", &from).result(ty).value()?;
        let store = copier.to.op(tt::DESCRIPTOR_STORE).operands("desc", &desc).operands("src", &[tensor]);
        store.operands("indices", &indices).done().map(drop)
    }
}
