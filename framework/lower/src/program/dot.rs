//! Products of matrices: the plan of [`tilewright_plan::contract`] that the engine asks for too, with conversions to its layouts where
//! the operands have others.

use std::sync::Arc;

use crate::shared_memory::Access;
use tilewright_assign::product::{self, Batches};
use tilewright_kernel::{Cast, Scope, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::contract::{Contraction, OperandStore};
use tilewright_target::{ElementType, Queue};
use tilewright_tile::marks::IN_PLACE;
use tilewright_tile::{self as tile, Attribute, Op};

use super::error::{Lowered, Reason};
use super::lowered::{LoweredValue, Registers};
use super::lowering::Lowering;
use super::pending;
use super::places::mapped;
use super::shared::{self, Whole};
use super::types::integer;

/// `d = a * b + c`, of matrices or of as many matrices as the first axis has; factors may have scales.
pub(super) fn product(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    if pending::product(lowering, op)? {
        return Ok(());
    }
    for (kind, pack) in [("a_elem_type", "lhs_k_pack"), ("b_elem_type", "rhs_k_pack")] {
        let across = lowering.attribute(op, pack).is_some_and(|pack| *pack == Attribute::Bool(false));
        if across && lowering.word(op, kind) == Some("e2m1") {
            return Err(Reason::unsupported("elements that share a byte across K, and not along it"));
        }
    }
    let planned = product::product(lowering.body, op, lowering.machine)?;
    let issues = planned.plan.cost.issues.saturating_mul(planned.batches.map_or(1, Batches::of_a_warp));
    lowering.has_room(issues)?;
    let (plan, places) = in_place(lowering, op, planned.plan)?;
    let of = Matrices { plan: &plan, batches: planned.batches, places };
    let sides = [of.factor(lowering, op, 0)?, of.factor(lowering, op, 1)?];
    let scales = [of.scales(lowering, op, 0)?, of.scales(lowering, op, 1)?];
    let accumulator = Arc::new(planned.accumulator.clone());
    let initial = lowering.optional(op, "c").ok_or_else(|| Reason::malformed("the sums are missing"))?;
    let initial = lowering.tensor(initial)?;
    let element = lowering.builder.type_of(initial.values[0]);
    let initial = lowering.convert(&initial, &accumulator)?;
    let initial: Vec<Value> = initial.iter().map(|&value| lowering.as_word(value)).collect();
    let values = of.emit(lowering, sides, scales, &initial);
    let values: Vec<Value> = values.into_iter().map(|value| lowering.typed_word(value, element)).collect();
    let required = lowering.result_layout(op)?;
    let values = lowering.convert(&Registers::new(accumulator, values), &required)?;
    lowering.give(op, LoweredValue::Tensor(Registers::new(required, values)))
}

/// The plan that reads factors where they lie, and where that is.
fn in_place(lowering: &Lowering<'_>, op: Op, plan: Contraction) -> Lowered<(Contraction, [Option<Whole>; 2])> {
    let (mut plan, mut places) = (plan, [None, None]);
    for (side, group) in ["a", "b"].into_iter().enumerate() {
        let Some(tile::ValueOrigin::Result(load, _)) =
            lowering.optional(op, group).map(|value| lowering.body.origin(value))
        else {
            continue;
        };
        if lowering.attribute(load, IN_PLACE).is_some() {
            let (whole, memory) = shared::whole(lowering, lowering.operand(load, 0)?)?;
            plan = plan.descriptor_match(side, &memory)?;
            places[side] = Some(whole);
        }
    }
    Ok((plan, places))
}

/// A plan for each of the matrices along the first axis of three, or for the one there is.
struct Matrices<'a> {
    plan: &'a Contraction,
    batches: Option<Batches>,
    /// Where factors begin that are read where they lie.
    places: [Option<Whole>; 2],
}

/// A factor where the plan takes it from, for all matrices one after the other.
enum Side {
    Registers(Vec<Value>),
    /// Words that are stored first, and how.
    Stored(Vec<Value>, Box<OperandStore>),
    /// The address from which the unit reads it.
    InPlace(Value),
}

impl Matrices<'_> {
    /// A layout of one matrix as one of all.
    fn of_all(&self, layout: &LinearLayout) -> Lowered<Arc<LinearLayout>> {
        Ok(Arc::new(product::over_batches(layout, self.batches)?))
    }

    /// The words of a factor, in the layout in which the plan takes them.
    fn factor(&self, lowering: &mut Lowering<'_>, op: Op, side: usize) -> Lowered<Side> {
        if let Some(whole) = self.places[side] {
            return Ok(Side::InPlace(whole.address));
        }
        let tensor = operand(lowering, op, ["a", "b"][side])?;
        let number = [self.plan.problem.a, self.plan.problem.b][side];
        let context = lowering.machine.context;
        let Some(of_one) = self.plan.whole_factor(side, context)? else {
            return self.stored(lowering, side, &tensor, number);
        };
        let layout = self.of_all(&of_one)?;
        let values = lowering.convert(&tensor, &layout)?;
        let words = values.iter().map(|&value| word(lowering, value, number)).collect();
        Ok(match self.plan.factor_store(side, &of_one, context)? {
            Some(store) => Side::Stored(words, Box::new(store)),
            None => Side::Registers(words),
        })
    }

    /// The words of a factor that is read from shared memory: of several matrices in a layout whose highest register bits
    /// tell them apart.
    fn stored(
        &self,
        lowering: &mut Lowering<'_>,
        side: usize,
        tensor: &Registers,
        number: ElementType,
    ) -> Lowered<Side> {
        let mut tensor = tensor.clone();
        let mut of_one = (*tensor.layout).clone();
        if self.batches.is_some() {
            let [rows, columns] = [1, 2].map(|axis| 1u64 << tensor.layout.out_bits(Dim::tensor(axis)));
            of_one = mapped(&tensor.layout, &[rows, columns], |place| place[1..].to_vec())?;
            of_one = of_one.remove_zero_bases(Dim::REGISTER);
            let required = self.of_all(&of_one)?;
            let values = lowering.convert(&tensor, &required)?;
            tensor = Registers::new(required, values);
        }
        let store = self.plan.factor_store(side, &of_one, lowering.machine.context)?;
        let store = store.ok_or_else(|| Reason::malformed("the unit does not read this factor from memory"))?;
        let words = tensor.values.iter().map(|&value| word(lowering, value, number)).collect();
        Ok(Side::Stored(words, Box::new(store)))
    }

    fn scales(&self, lowering: &mut Lowering<'_>, op: Op, side: usize) -> Lowered<Vec<Value>> {
        let Some(layout) = self.plan.whole_scales(side)? else { return Ok(Vec::new()) };
        let layout = self.of_all(&layout)?;
        let tensor = operand(lowering, op, ["a_scale", "b_scale"][side])?;
        let values = lowering.convert(&tensor, &layout)?;
        Ok(values.iter().map(|&value| lowering.as_word(value)).collect())
    }

    /// The sums of all matrices that a warp has, one after the other.
    fn emit(
        &self,
        lowering: &mut Lowering<'_>,
        sides: [Side; 2],
        scales: [Vec<Value>; 2],
        initial: &[Value],
    ) -> Vec<Value> {
        let batches = self.batches.map_or(1, Batches::of_a_warp) as usize;
        let of = |values: &[Value], batch: usize| -> Vec<Value> {
            let count = values.len() / batches;
            values[batch * count..(batch + 1) * count].to_vec()
        };
        let mut results = Vec::with_capacity(initial.len());
        for batch in 0..batches {
            let mut stores = false;
            let mut parts = self.places.iter().flatten().map(|whole| whole.part);
            if let Some(first) = parts.next() {
                // One mark stands for both factors.
                let part = first.filter(|_| parts.all(|part| part == first));
                lowering.accesses_part(Access::Load, part);
            }
            let builder = &mut lowering.builder;
            let factors = [0, 1].map(|side| match &sides[side] {
                Side::Registers(values) => of(values, batch),
                Side::InPlace(address) => vec![*address],
                Side::Stored(values, store) => {
                    stores = true;
                    self.plan.emit_factor_store(builder, store, &of(values, batch), &of(&scales[side], batch))
                }
            });
            if stores {
                if self.plan.queue().is_some_and(Queue::reads_by_proxy) {
                    builder.proxy_fence();
                }
                builder.barrier(Scope::Block);
            }
            let accumulator = self.plan.begin(builder, Some(&of(initial, batch)));
            let own = [of(&scales[0], batch), of(&scales[1], batch)];
            let accumulator =
                self.plan.emit_whole(builder, [&factors[0], &factors[1]], [&own[0], &own[1]], accumulator);
            results.extend(self.plan.end(builder, accumulator));
        }
        results
    }
}

fn operand(lowering: &Lowering<'_>, op: Op, group: &str) -> Lowered<Registers> {
    let value: tile::Value =
        lowering.optional(op, group).ok_or_else(|| Reason::malformed(format!("its operand `{group}` is missing")))?;
    lowering.tensor(value)
}

/// An element as an integer of its stored width.
fn word(lowering: &mut Lowering<'_>, value: Value, number: ElementType) -> Value {
    let word = lowering.as_word(value);
    let required: Type = integer(number.stored_bits().max(8));
    let have = lowering.builder.type_of(word);
    if have.bits() == required.bits() {
        return word;
    }
    lowering.builder.cast(if have.bits() < required.bits() { Cast::ExtendU } else { Cast::Truncate }, word, required)
}
