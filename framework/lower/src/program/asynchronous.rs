//! Copies from global to shared memory that go on while the program does, by the rows of the target that copy so.
//!
//! Which copies go so is found for the whole program before any is written, for groups are closed and waited for where there are
//! any at all. A copy that no row makes is a load and a store: it is done when it is issued, so that groups and waits stay as
//! the program has them.

use tilewright_tile::op::name::ttg;

use crate::shared_memory::Access;
use tilewright_kernel::Queue;
use tilewright_layout::Dim;
use tilewright_plan::movement::{GlobalPlace, PointerCopy, PointerCopySpec, plan_pointer_copy};
use tilewright_tile::{Op, Value};

use super::error::{Lowered, Reason};
use super::lowered::LoweredValue;
use super::lowering::{Copies, Lowering};
use super::memory::Groups;
use super::places::idle_registers;
use super::shared::{layout_of, load_and_store, placed_at};
use super::types::{carrier, stored};

const COPY: &str = ttg::ASYNC_COPY_GLOBAL_TO_LOCAL;
const COMMIT: &str = ttg::ASYNC_COMMIT_GROUP;
const WAIT: &str = ttg::ASYNC_WAIT;

/// Finds them.
pub(super) fn planned(lowering: &mut Lowering<'_>) -> Copies {
    let body = lowering.body;
    let copies = body.walk(body.root()).into_iter().filter(|&op| body.op(op).name() == COPY);
    // What is wrong with one is said where it is written.
    copies.filter_map(|op| Some((op, plan(lowering, op).ok()??))).collect()
}

fn plan(lowering: &mut Lowering<'_>, op: Op) -> Lowered<Option<PointerCopy>> {
    let (source, memory) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
    let (mask, other) = (lowering.optional(op, "mask"), lowering.optional(op, "other"));
    if mask.is_some() && other.is_some_and(|other| !lowering.body.is_zero(other)) {
        return Ok(None);
    }
    let layout = lowering.layout_of(source)?;
    let place = layout_of(lowering, memory)?;
    if layout.outs().bits() != place.memory.linear.outs().bits() {
        return Ok(None);
    }
    let element = stored(carrier(lowering.body.ty(memory).element())?);
    let masks: Vec<Value> = mask.into_iter().collect();
    let idle = idle_registers(&layout) as usize;
    let groups = |elements: u32| -> Vec<Vec<usize>> {
        let groups =
            Groups::of((lowering.facts, source, &masks), &layout, element, &[element.bits().saturating_mul(elements)]);
        groups.iter().filter(|group| group[0] & idle == 0).collect()
    };
    let problem = PointerCopySpec {
        layout: &layout,
        memory: &place.memory,
        element_bits: element.bits(),
        masked: mask.is_some(),
        groups: &groups,
    };
    let copy = plan_pointer_copy(&problem, &lowering.machine.context).ok();
    // One of several tensors of an allocation begins where the one before it ends.
    let bytes = place.memory.allocated_bytes(element.bits());
    Ok(copy.filter(|copy| copy.queue() == Queue::Copies && bytes.is_multiple_of(copy.alignment())))
}

pub(super) fn operation(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let any = !lowering.copies.is_empty();
    match lowering.body.op(op).name() {
        COPY => match lowering.copies.get(&op).cloned() {
            Some(copy) => copied(lowering, op, &copy)?,
            None => load_and_store(lowering, op)?,
        },
        COMMIT if any => lowering.builder.commit(Queue::Copies),
        WAIT if any => {
            let outstanding = lowering.number(op, "num")?;
            let outstanding = u32::try_from(outstanding)
                .map_err(|_| Reason::malformed(format!("a wait for all but {outstanding} groups")))?;
            lowering.builder.wait(Queue::Copies, outstanding, &[]);
            lowering.shows_to_units();
        }
        _ => {}
    }
    lowering.give(op, LoweredValue::Token)
}

fn copied(lowering: &mut Lowering<'_>, op: Op, copy: &PointerCopy) -> Lowered<()> {
    let (source, memory) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
    let layout = lowering.layout_of(source)?;
    let addresses = lowering.spread(source, &layout)?;
    let mask = lowering.optional(op, "mask");
    let predicates = mask.map(|mask| lowering.spread(mask, &layout)).transpose()?;
    debug_assert_eq!(addresses.len(), 1 << layout.in_bits(Dim::REGISTER));
    lowering.accesses(Access::Copy);
    let buffer = placed_at(lowering, memory)?;
    copy.emit(&mut lowering.builder, buffer, &mut |_, register| GlobalPlace {
        pointer: addresses[register],
        offset: 0,
        predicate: predicates.as_ref().map(|all| all[register]),
    });
    Ok(())
}

/// Waits for what the program has left under way: a block must not end before it has landed.
pub(super) fn finished(lowering: &mut Lowering<'_>) {
    let body = lowering.body;
    let entry: &[_] = body.blocks(body.root()).first().map_or(&[], |&entry| body.ops(entry));
    let (mut open, mut rejected) = (false, false);
    for op in body.walk(body.root()) {
        match body.op(op).name() {
            COPY => open |= lowering.copies.contains_key(&op),
            COMMIT => rejected |= std::mem::take(&mut open),
            // One that some turns or choices pass by says nothing.
            WAIT if entry.contains(&op) && lowering.number(op, "num") == Ok(0) => rejected = false,
            _ => {}
        }
    }
    if open || rejected {
        all_landed(lowering);
    }
}

/// Waits for all copies of the warp.
pub(super) fn all_landed(lowering: &mut Lowering<'_>) {
    lowering.builder.commit(Queue::Copies);
    lowering.builder.wait(Queue::Copies, 0, &[]);
}
