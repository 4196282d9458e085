//! Asynchronous copies from global to shared memory (PTX `cp.async`), by the target's copy instructions.
//!
//! The asynchronous copies of the whole program are planned before any operation is lowered, because groups are
//! committed and waited for only if the program has such copies. A copy without an instruction becomes a load and a
//! store, which is complete at its issue point, so that commits and waits keep their meaning.

use tilewright_tile::op::name::ttg;

use crate::shared_memory::Access;
use tilewright_assign::layouts::first_coordinates;
use tilewright_kernel::Queue;
use tilewright_layout::Dim;
use tilewright_plan::movement::{
    PointerToSharedCopy, PointerToSharedCopySpec, PredicatedGlobalAddress, plan_pointer_to_shared_copy,
};
use tilewright_tile::{Op, Value};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::LoweredValue;
use super::lowering::{Copies, Lowering};
use super::memory::VectorGroups;
use super::shared::{layout_of, load_and_store, placed_at, slice};
use super::tensor_coordinates::idle_registers;
use super::types::{carrier, stored};

const COPY: &str = ttg::ASYNC_COPY_GLOBAL_TO_LOCAL;
const COMMIT: &str = ttg::ASYNC_COMMIT_GROUP;
const WAIT: &str = ttg::ASYNC_WAIT;

/// Plans all asynchronous copies of the program.
pub(super) fn planned(lowering: &mut Lowering<'_>) -> Copies {
    let body = lowering.body;
    if lowering.launch.blocks > 1 {
        // Asynchronous copies are planned for one block; in a cluster, the elements are loaded to registers and stored.
        return Copies::new();
    }
    let copies = body.walk_region(body.root()).into_iter().filter(|&op| body.op(op).name() == COPY);
    // Errors of a copy are reported when it is lowered.
    copies.filter_map(|op| Some((op, plan(lowering, op).ok()??))).collect()
}

fn plan(lowering: &mut Lowering<'_>, op: Op) -> Lowered<Option<PointerToSharedCopy>> {
    let (source, memory) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
    let (mask, other) = (lowering.optional(op, "mask"), lowering.optional(op, "other"));
    if mask.is_some() && other.is_some_and(|other| !lowering.body.is_known_zero(other)) {
        return Ok(None);
    }
    let layout = lowering.layout_of(source)?;
    let memory_layout = layout_of(lowering, memory)?;
    let first = first_coordinates(lowering.body, memory, lowering.layouts);
    let Some((within, start)) = memory_layout.in_full(&layout, &first)? else {
        return Ok(None);
    };
    let element = stored(carrier(lowering.body.value_type(memory).element())?);
    let masks: Vec<Value> = mask.into_iter().collect();
    let idle = idle_registers(&layout) as usize;
    let groups = |elements: u32| -> Vec<Vec<usize>> {
        let groups = VectorGroups::of(
            (lowering.axis_info, source, &masks),
            &layout,
            element,
            &[element.bits().saturating_mul(elements)],
            u64::MAX,
        );
        groups.iter().filter(|group| group[0] & idle == 0).collect()
    };
    let problem = PointerToSharedCopySpec {
        layout: &within,
        memory: &memory_layout.memory,
        start,
        element_bits: element.bits(),
        masked: mask.is_some(),
        groups: &groups,
    };
    let copy = plan_pointer_to_shared_copy(&problem, &lowering.config.context).ok();
    // The tensors of an allocation follow each other without padding, so each must start at the alignment of the copy.
    let bytes = memory_layout.memory.allocated_bytes(element.bits());
    Ok(copy.filter(|copy| copy.completion_queue() == Queue::Copies && bytes.is_multiple_of(copy.alignment())))
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
            let outstanding = lowering.integer_attribute(op, "num")?;
            let outstanding = u32::try_from(outstanding)
                .map_err(|_| LowerErrorReason::malformed(format!("a wait for all but {outstanding} groups")))?;
            lowering.builder.wait(Queue::Copies, outstanding, &[]);
            lowering.emit_proxy_fence();
        }
        _ => {}
    }
    lowering.set_result(op, LoweredValue::Token)
}

fn copied(lowering: &mut Lowering<'_>, op: Op, copy: &PointerToSharedCopy) -> Lowered<()> {
    let (source, memory) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
    let layout = lowering.layout_of(source)?;
    let addresses = lowering.addresses_in(source, &layout)?;
    let mask = lowering.optional(op, "mask");
    let predicates = mask.map(|mask| lowering.registers_in(mask, &layout)).transpose()?;
    debug_assert_eq!(addresses.len(), 1 << layout.in_bits(Dim::REGISTER));
    let slice = slice(lowering, memory)?;
    lowering.record_access(Access::Copy, vec![slice]);
    let buffer = placed_at(lowering, memory)?;
    copy.emit(&mut lowering.builder, buffer, &mut |_, register| PredicatedGlobalAddress {
        pointer: addresses[register].pointer,
        offset: addresses[register].offset,
        predicate: predicates.as_ref().map(|all| all[register]),
    });
    Ok(())
}

/// Emits a wait for all copies in flight, if the program may leave some: a block must not exit before they complete.
pub(super) fn finished(lowering: &mut Lowering<'_>) {
    let body = lowering.body;
    let entry: &[_] = body.blocks(body.root()).first().map_or(&[], |&entry| body.ops(entry));
    let (mut open, mut rejected) = (false, false);
    for op in body.walk_region(body.root()) {
        match body.op(op).name() {
            COPY => open |= lowering.copies.contains_key(&op),
            COMMIT => rejected |= std::mem::take(&mut open),
            // Only a wait at the top level is certain to be executed; one in a loop or a branch may be skipped.
            WAIT if entry.contains(&op) && lowering.integer_attribute(op, "num") == Ok(0) => rejected = false,
            _ => {}
        }
    }
    if open || rejected {
        wait_for_all_copies(lowering);
    }
}

/// Emits a wait for all copies of the warp.
pub(super) fn wait_for_all_copies(lowering: &mut Lowering<'_>) {
    lowering.builder.commit(Queue::Copies);
    lowering.builder.wait(Queue::Copies, 0, &[]);
}
