//! How one load goes ahead: by a copy or by registers, through which layout of shared memory.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tilewright_tile::op::name::tt;

use crate::layouts::LayoutCache;
use crate::memory::moved_bits;
use crate::product::{Product, product};
use crate::synthesis::accesses::of_unit;
use crate::{LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::memory_synthesis::{AccessAlternative as MemoryWay, SharedTensor, Solution, TensorAccess, solve};
use tilewright_plan::movement::{Path, PointerCopySpec, convert, plan_pointer_copy};
use tilewright_target::Queue;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::transform::loads::{BufferReader, PrefetchPath, PrefetchableLoad};
use tilewright_tile::{Body, Op, Value};

/// A program with layouts, and its target.
pub(super) struct Question<'q> {
    pub body: &'q Body,
    pub facts: &'q AxisInfoMap,
    pub layouts: &'q LayoutCache<'q>,
    pub machine: &'q LaunchConfig<'q>,
    /// Products that were asked for.
    pub products: RefCell<HashMap<Op, Option<Rc<Product>>>>,
}

/// How a load goes ahead.
pub(super) struct How {
    pub path: PrefetchPath,
    /// Where elements lie, and who accesses them how.
    pub solution: Solution,
    /// Bytes of one buffer.
    pub bytes: u64,
    /// 32-bit registers of a lane that the load keeps while the turn goes on.
    pub registers: u64,
}

impl Question<'_> {
    /// Whether a conversion moves through shared memory.
    pub fn moves(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let (from, to) = (operation.operands[0], operation.results[0]);
        let bits = moved_bits(self.body.ty(from).element());
        let (Some(from), Some(to)) = (self.layout(from), self.layout(to)) else { return false };
        let plan = convert(&from, &to, bits, self.machine.context);
        plan.is_ok_and(|plan| matches!(plan.path, Path::Shared | Path::Mixed))
    }

    /// Whether the unit of a product reads the whole of a factor from shared memory, as it lies there.
    pub fn reads(&self, op: Op, side: usize) -> bool {
        let Some(planned) = self.product(op) else { return false };
        let in_memory = planned.factors[side].is_none() && planned.batches.is_none();
        in_memory && of_unit(&planned.plan, side, "unit", self.machine).is_some()
    }

    /// How a product is carried out.
    fn product(&self, op: Op) -> Option<Rc<Product>> {
        let mut known = self.products.borrow_mut();
        known.entry(op).or_insert_with(|| product(self.body, op, self.machine).ok().map(Rc::new)).clone()
    }

    fn layout(&self, value: Value) -> Option<LinearLayout> {
        self.layouts.distributed(self.body.ty(value)).ok()
    }

    /// How a load goes ahead; `copies` says whether it may by a copy.
    ///
    /// # Errors
    /// Why it does not.
    pub fn how(&self, load: &PrefetchableLoad, copies: bool) -> Result<How, String> {
        let held = self.layout(load.stored).ok_or("it has no layout")?;
        let bits = moved_bits(self.body.ty(load.stored).element());
        let tensor = SharedTensor::new(self.body.ty(load.stored).shape().unwrap_or_default(), bits);
        let reader = self.reader(load).ok_or("nothing is known of who reads it")?.times(LOOP_WEIGHT);
        if copies && let Some((solution, bytes)) = self.copied(load, &held, &tensor, &reader) {
            return Ok(How { path: PrefetchPath::Copy, solution, bytes, registers: 0 });
        }
        let context = &self.machine.context;
        let store = TensorAccess::store("what is stored", held.clone(), context).times(LOOP_WEIGHT);
        let solution = solve(&tensor, &[store, reader], context).map_err(|error| error.to_string())?;
        if let BufferReader::Unit(op, side) = load.reader {
            let planned = self.product(op).ok_or("its product has no plan")?;
            planned.plan.descriptor_match(side, &solution.memory.linear).map_err(|error| error.to_string())?;
        }
        let registers = (u64::from(bits) << held.in_bits(Dim::REGISTER)).div_ceil(32);
        let bytes = bytes_of(&solution, bits);
        Ok(How { path: PrefetchPath::Registers, solution, bytes, registers })
    }

    fn reader(&self, load: &PrefetchableLoad) -> Option<TensorAccess<'_>> {
        match load.reader {
            BufferReader::Conversion(_) => {
                Some(TensorAccess::load("what reads it", self.layout(load.required)?, &self.machine.context))
            }
            BufferReader::Unit(op, side) => of_unit(&self.product(op)?.plan, side, "the unit", self.machine),
        }
    }

    /// By a row that copies past the registers, of as many bytes as a load has; where banks are in each other's way, only as far as
    /// they would be for stores.
    fn copied(
        &self,
        load: &PrefetchableLoad,
        held: &LinearLayout,
        tensor: &SharedTensor,
        reader: &TensorAccess<'_>,
    ) -> Option<(Solution, u64)> {
        let (body, context) = (self.body, &self.machine.context);
        let operation = body.op(load.op);
        let turns_only = load.chain.iter().all(|op| body.op(*op).name() == tt::TRANS);
        if operation.name() != tt::LOAD || !turns_only {
            return None;
        }
        let (pointers, mask) = (body.operand(load.op, "ptr")?, body.operand(load.op, "mask"));
        let zeros = body.operand(load.op, "other").is_none_or(|other| body.is_zero(other));
        if mask.is_some() && !zeros {
            return None;
        }
        // Registers keep their numbers when a tensor is turned round.
        let together = self.together(pointers, mask, &self.layout(operation.results[0])?, tensor.bits);
        let widest = context.target.global.access_bits.iter().map(|bits| u64::from(bits / 8)).max()?;
        let as_wide = together.min(widest);
        let rows = |way: &MemoryWay<'_>| way.instruction().is_some() && way.bytes() == as_wide;
        let copy = TensorAccess::copy("what is copied", held.clone(), context).only(rows).times(LOOP_WEIGHT);
        if copy.ways.is_empty() {
            return None;
        }
        let solution = solve(tensor, &[copy, reader.clone()], context).ok()?;
        if solution.conflicts() > 0 {
            return None;
        }
        if let BufferReader::Unit(op, side) = load.reader {
            self.product(op)?.plan.descriptor_match(side, &solution.memory.linear).ok()?;
        }
        let idle: usize = (held.columns_of(Dim::REGISTER).iter().enumerate())
            .map(|(bit, column)| if *column == 0 { 1usize << bit } else { 0 })
            .sum();
        let groups = |elements: u32| -> Vec<Vec<usize>> {
            let fits = u64::from(elements) * u64::from(tensor.bits / 8) <= together;
            let count = if fits { elements as usize } else { 1 };
            let firsts = (0..1usize << held.in_bits(Dim::REGISTER)).step_by(count);
            firsts.filter(|first| first & idle == 0).map(|first| (first..first + count).collect()).collect()
        };
        let problem = PointerCopySpec {
            layout: held,
            memory: &solution.memory,
            element_bits: tensor.bits,
            masked: mask.is_some(),
            groups: &groups,
        };
        let made = plan_pointer_copy(&problem, context).ok()?;
        let bytes = bytes_of(&solution, tensor.bits);
        let goes = made.queue() == Queue::Copies && bytes.is_multiple_of(made.alignment());
        goes.then_some((solution, bytes))
    }

    /// Bytes that follow each other in a lane's first registers and in global memory, and are there or not together.
    fn together(&self, pointers: Value, mask: Option<Value>, held: &LinearLayout, bits: u32) -> u64 {
        let bytes = u64::from(bits / 8).max(1);
        let Some(fact) = self.facts.get(pointers) else { return bytes };
        let columns = held.columns_of(Dim::REGISTER);
        let along = fact.axes.iter().enumerate().take(held.outs().len()).map(|(axis, along)| {
            let same = mask.map_or(u64::MAX, |mask| {
                self.facts.get(mask).and_then(|fact| fact.axes.get(axis)).map_or(1, |axis| axis.constancy)
            });
            let most = along.contiguity.min(along.divisibility / bytes).min(same).max(1).ilog2();
            let shift = held.outs().shift_of(Dim::tensor(axis)).unwrap_or(0);
            let most = most.min(held.outs().bits_of(Dim::tensor(axis)));
            let steps =
                (0..most as usize).take_while(|bit| columns.get(*bit) == Some(&(1u64 << (shift + *bit as u32))));
            bytes << steps.count()
        });
        along.max().unwrap_or(bytes)
    }
}

fn bytes_of(solution: &Solution, bits: u32) -> u64 {
    solution.memory.allocated_bytes(bits)
}
