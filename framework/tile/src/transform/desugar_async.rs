//! Lowers bulk tensor copies (TMA) and asynchronous stores to synchronous ones, for targets without such copies.
//!
//! The lanes copy each box of a tensor, and the copy is complete when the next operation begins. If all warps execute
//! the same code, mbarriers then have no effect and are removed. With warp partitions, a `tw.mbarrier_arrive` behind
//! the last of the copies replaces the `tw.mbarrier_expect` that expects their bytes.

use crate::op::name::{tt, ttg, tw};
use std::collections::HashMap;

use crate::import::plain;
use crate::op::Dialects;
use crate::{Attribute, Attributes, BuildError, FunctionBody, Op, TileModule, TileViolation, Value, Values};

use super::{IrCloner, Rewrite, Rewritten, each_function, rewrite_function};

const LOAD: &str = tw::BULK_TENSOR_LOAD;
const ASYNC_STORE: &str = tw::ASYNC_STORE;
/// The operation that derives a tensor map: a program with it is for a target with asynchronous copies.
const DERIVED_TENSOR_MAP: &str = tw::DERIVED_TENSOR_MAP;
const EXPECT: &str = tw::MBARRIER_EXPECT;

/// Replaces the bulk tensor copies of a program by synchronous ones.
///
/// # Errors
/// A [`TileViolation`] at a `tw.mbarrier_expect` whose bytes differ from those of the copies behind it, if warp
/// partitions depend on it.
pub fn make_copies_synchronous(module: &TileModule, dialects: &Dialects) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(body) = &function.body else { return Ok(function.clone()) };
        let all = body.walk_region(body.root());
        let uses_tensor_maps = all.iter().any(|&op| body.op(op).name() == DERIVED_TENSOR_MAP);
        if uses_tensor_maps || !all.iter().any(|&op| is_word(body.op(op).name())) {
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
        rewrite_function(function, dialects, &mut AtOnce { module: &module.attributes, in_groups, last })
    })
}

fn is_word(name: &str) -> bool {
    name.starts_with("tw.mbarrier_")
        || matches!(name, LOAD | ASYNC_STORE | tw::BULK_TENSOR_STORE | tw::BULK_TENSOR_WAIT)
}

/// Returns the last of the copies that follow a `tw.mbarrier_expect` in its block and together transfer the bytes that
/// it expects.
///
/// The error means that the copies in the block do not transfer these bytes.
fn last_copy(body: &FunctionBody, expect: Op) -> Result<Op, String> {
    let mbarrier = body.operand(expect, "mbarrier");
    let mut bytes = body.op(expect).attributes.get("bytes").and_then(Attribute::as_integer).unwrap_or(0);
    let block = blocks(body).into_iter().find(|&block| body.ops(block).contains(&expect));
    let ops = block.map_or(&[][..], |block| body.ops(block));
    for &op in ops.iter().skip_while(|op| **op != expect).skip(1) {
        if matches!(body.op(op).name(), LOAD | ASYNC_STORE) && body.operand(op, "mbarrier") == mbarrier {
            bytes -= body.operand(op, "dst").map_or(0, |memory| size(body, memory));
            if bytes == 0 {
                return Ok(op);
            }
        }
    }
    Err("the copies to this mbarrier after it in its block do not transfer the bytes that it expects".to_owned())
}

fn blocks(body: &FunctionBody) -> Vec<crate::Block> {
    let inner = body.walk_region(body.root());
    let regions = inner.iter().flat_map(|op| body.op(*op).regions.iter().copied());
    std::iter::once(body.root()).chain(regions).flat_map(|region| body.blocks(region).to_vec()).collect()
}

/// Number of bytes of a tensor in memory.
fn size(body: &FunctionBody, value: Value) -> i64 {
    let ty = body.value_type(value);
    let elements: u64 = ty.as_memory().map_or(0, |memory| memory.shape.iter().product());
    (elements * u64::from(ty.element().element_bits().unwrap_or(8)) / 8) as i64
}

struct AtOnce<'m> {
    module: &'m Attributes,
    in_groups: bool,
    /// The last copy that each `tw.mbarrier_expect` counts, mapped to the `tw.mbarrier_expect`; empty without warp
    /// partitions.
    last: HashMap<Op, Op>,
}

impl Rewrite for AtOnce<'_> {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        match cloner.from.op(op).name() {
            LOAD => self.predicated(op, cloner, |cloner| self.copied(op, cloner))?,
            ASYNC_STORE => self.predicated(op, cloner, |cloner| {
                let [src, dst] = ["src", "dst"].map(|group| cloner.all(cloner.from.operands(op, group)));
                cloner.to.build_op(ttg::LOCAL_STORE).operands("src", &src).operands("dst", &dst).build().map(drop)
            })?,
            tw::BULK_TENSOR_STORE => self.store(op, cloner)?,
            tw::BULK_TENSOR_WAIT | EXPECT => {}
            name if name.starts_with("tw.mbarrier_") => return Ok(!self.in_groups),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl AtOnce<'_> {
    /// Emits the synchronous form of a copy `op`, executed only if its predicate is true, and the arrival behind it.
    fn predicated(
        &self,
        op: Op,
        cloner: &mut IrCloner<'_, '_, '_>,
        copy: impl FnOnce(&mut IrCloner<'_, '_, '_>) -> Result<(), BuildError>,
    ) -> Rewritten<()> {
        match cloner.from.operand(op, "pred").filter(|active| !cloner.from.is_always(*active)) {
            None => copy(cloner)?,
            Some(active) => {
                cloner.emit_if(cloner.clone_of(active), |cloner| {
                    copy(cloner)?;
                    Ok(Values::new())
                })?;
            }
        }
        self.arrive(op, cloner)
    }

    /// Emits the arrival that replaces a `tw.mbarrier_expect`, if the copy `op` is the last one for it.
    fn arrive(&self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<()> {
        let Some(&expect) = self.last.get(&op) else { return Ok(()) };
        let [mbarrier, active] = ["mbarrier", "pred"].map(|group| cloner.all(cloner.from.operands(expect, group)));
        let arrive = cloner.to.build_op(tw::MBARRIER_ARRIVE).operands("mbarrier", &mbarrier).operands("pred", &active);
        arrive.attribute("count", 1).build()?;
        Ok(())
    }

    fn copied(&self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Result<(), BuildError> {
        let [desc, indices, to] = ["desc", "indices", "dst"].map(|group| cloner.all(cloner.from.operands(op, group)));
        let memory = to.first().and_then(|&to| cloner.to.ty(to).as_memory().cloned());
        let Some(memory) = memory else { return Ok(()) };
        let ty = plain::tensor(&memory, &plain::around(self.module, cloner.from, op));
        let load = cloner.to.build_op(tt::DESCRIPTOR_LOAD).operands("desc", &desc).operands("indices", &indices);
        let tensor = load.result(ty).value()?;
        cloner.to.build_op(ttg::LOCAL_STORE).operand(tensor).operands("dst", &to).build().map(drop)
    }

    fn store(&self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Result<(), BuildError> {
        let [desc, indices, from] = ["desc", "indices", "src"].map(|group| cloner.all(cloner.from.operands(op, group)));
        let memory = from.first().and_then(|&from| cloner.to.ty(from).as_memory().cloned());
        let Some(memory) = memory else { return Ok(()) };
        let ty = plain::tensor(&memory, &plain::around(self.module, cloner.from, op));
        let tensor = cloner.to.build_op(ttg::LOCAL_LOAD).operands("src", &from).result(ty).value()?;
        let kind = cloner.from.op(op).attributes.get("kind");
        let name = if kind.is_some() { tt::DESCRIPTOR_REDUCE } else { tt::DESCRIPTOR_STORE };
        let store = cloner.to.build_op(name).operands("desc", &desc).operands("src", &[tensor]);
        let store = store.operands("indices", &indices);
        kind.cloned().into_iter().fold(store, |store, kind| store.attribute("kind", kind)).build().map(drop)
    }
}
