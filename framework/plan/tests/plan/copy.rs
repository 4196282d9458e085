//! Copies from global to shared memory on an invented machine: what was asked for is there, in stages too, what was
//! executed is what the plan counted, and whatever orders them is needed.

use tilewright_testkit::machines;

use machines::accesses::{memory, problems};
use machines::machine;
use proptest::prelude::*;
use tilewright_emulator::FaultKind;
use tilewright_layout::{Bases, Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{
    AsyncCopySpec, GlobalTensor, MovementError, PlanContext, SharedCopy, consecutive_copy, copy_to_shared,
};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Queue, Semantics};
use tilewright_verify::kernels::{OmittedSync, Stages};
use tilewright_verify::{CheckFailure, check_emulated, check_row, shared_copy_case};

/// Eight lanes that copy `bytes` each: from addresses of their own, to such, or one after the other.
fn row(name: &str, bytes: u64, consecutive: bool, masked: bool) -> Instruction {
    let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
    let own: Bases = (0..bytes.ilog2()).map(|bit| vec![0, 1 << bit]).collect();
    let each = |step: Vec<u64>| (0..3).map(|bit| step.iter().map(|&by| by << bit).collect()).collect::<Bases>();
    let data = |lanes: Bases, slots: u64, slot_bytes: u64| {
        let bases = [(Dim::LANE, lanes), (byte, own.clone())];
        LinearLayout::from_bases(&bases, &[(slot, slots), (byte, slot_bytes)]).expect("sizes fit")
    };
    let apart = data(each(vec![1, 0]), 8, bytes);
    let address = LinearLayout::identity(8, Dim::LANE, slot).expect("sizes fit");
    let first = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![0]; 3])], &[(slot, 1)]).expect("sizes fit");
    let alignment = bytes as u32;
    let to = match consecutive {
        true => Operand::Access { data: data(each(vec![0, bytes]), 1, 8 * bytes), address: first, alignment },
        false => Operand::Access { data: apart.clone(), address: address.clone(), alignment },
    };
    let from = Operand::Global { data: apart, address, alignment };
    Instruction {
        name: name.to_owned(),
        kind: InstructionKind::AsyncCopy,
        operands: if masked { vec![to, from, Operand::Predicate] } else { vec![from, to] },
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Copies),
        numerics: None,
        source: "invented".to_owned(),
    }
}

fn own() -> Vec<Instruction> {
    [16, 8, 4].map(|bytes| row(&format!("copy{bytes}"), bytes, false, true)).to_vec()
}

fn consecutive() -> Vec<Instruction> {
    vec![row("follow4", 4, true, false)]
}

const ONCE: Stages = Stages { buffers: 1, tensors: 1, omitted: None };

fn planned(memory: &MemoryLayout, bits: u32, warps: u32, rows: &[Instruction]) -> Result<SharedCopy, MovementError> {
    let global = GlobalTensor::row_major(&[1 << memory.linear.in_bits(Dim::OFFSET)], 16);
    let problem =
        AsyncCopySpec { global: &global, memory, element_bits: bits, lanes: 8, warps, masked: false, mapped: false };
    copy_to_shared(&problem, PlanContext::of(&machine()).with_instructions(rows))
}

fn proved(memory: &MemoryLayout, bits: u32, copy: &SharedCopy, stages: Stages, rows: &[Instruction]) {
    let machine = machine();
    let context = PlanContext::of(&machine).with_instructions(rows);
    let shown = || format!("{bits} bits, {:?}, {copy:#?}\n{}", memory.padding, memory.linear);
    shared_copy_case(copy, memory, bits, stages, context)
        .and_then(|case| check_emulated(&case, context))
        .unwrap_or_else(|wrong| panic!("{wrong}\n{}", shown()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn memory_holds_what_its_layout_says(problem in problems(), warps in 0u32..3) {
        for rows in [own(), consecutive(), Vec::new()] {
            let copy = planned(&problem.memory, problem.bits, 1 << warps, &rows).expect("a copy");
            proved(&problem.memory, problem.bits, &copy, ONCE, &rows);
            let bytes = u64::from(problem.bits / 8) << problem.memory.linear.in_bits(Dim::OFFSET);
            if bytes.is_multiple_of(16) && bytes <= 256 {
                let stages = Stages { buffers: 3, tensors: 5, omitted: None };
                proved(&problem.memory, problem.bits, &copy, stages, &rows);
            }
        }
    }
}

/// 64 words, row after row of eight, each row's words exchanged by its number.
fn swizzled() -> MemoryLayout {
    memory(&[1, 2, 4, 8 ^ 1, 16 ^ 2, 32 ^ 4], &[])
}

fn plain() -> MemoryLayout {
    memory(&[1, 2, 4, 8, 16, 32], &[])
}

#[test]
fn the_widest_row_that_fits_wins() {
    // Four words of 32 bits lie together.
    let copy = planned(&plain(), 32, 1, &own()).expect("a copy");
    assert_eq!((copy.instruction(), copy.accesses(), copy.bytes_at_once()), (Some("copy16"), 2, 16));
    assert_eq!((copy.queue(), copy.transactions), (Some(Queue::Copies), 8));
    assert_eq!(copy.counts.asynchronous_copies, 2);
    // A swizzle parts all neighbours: words remain.
    let copy = planned(&swizzled(), 32, 1, &own()).expect("a copy");
    assert_eq!((copy.instruction(), copy.accesses()), (Some("copy4"), 8));
    let reason = "slots do not begin where its addresses must";
    assert!(copy.rejected.iter().all(|rejected| rejected.reason == reason), "{:?}", copy.rejected);
    assert_eq!(copy.rejected.len(), 2);
    // What is open and worse says what it takes.
    let narrow_first: Vec<_> = own().into_iter().rev().collect();
    let copy = planned(&plain(), 32, 1, &narrow_first[2..]).expect("a copy");
    assert_eq!((copy.instruction(), copy.rejected.len()), (Some("copy16"), 0));
    let copy = planned(&plain(), 32, 1, &own()).expect("a copy");
    let reasons: Vec<_> = copy.rejected.iter().map(|rejected| &*rejected.reason).collect();
    assert_eq!(reasons, ["it takes 8 units of global memory and 8 wavefront slots of a warp"; 2]);
}

#[test]
fn lanes_that_follow_each_other_fetch_what_belongs_there() {
    // One address serves all lanes, so that they fetch by the memory's order; they touch the same units.
    let copy = planned(&swizzled(), 32, 1, &consecutive()).expect("a copy");
    assert_eq!((copy.instruction(), copy.accesses(), copy.transactions), (Some("follow4"), 8, 8));
    proved(&swizzled(), 32, &copy, ONCE, &consecutive());
    // Padding within what they write together.
    let padded = memory(&[1, 2, 4, 8, 16, 32], &[(4, 4)]);
    let copy = planned(&padded, 32, 1, &consecutive()).expect("a copy");
    assert_eq!(copy.instruction(), None);
    assert_eq!(copy.rejected[0].reason, "padding parts what it writes together");
    let padded = memory(&[1, 2, 4, 8, 16, 32], &[(8, 4)]);
    let copy = planned(&padded, 32, 1, &consecutive()).expect("a copy");
    assert_eq!(copy.instruction(), Some("follow4"));
    proved(&padded, 32, &copy, ONCE, &consecutive());
}

/// Lanes may follow each other as the tensor lies in global memory, or as it lies in shared memory: fewest units of global
/// memory win, then fewest wavefronts.
#[test]
fn lanes_follow_the_memory_that_gains_by_it() {
    let copied = |memory: &MemoryLayout, bits: u32| {
        let copy = planned(memory, bits, 1, &own()).expect("a copy");
        proved(memory, bits, &copy, ONCE, &own());
        (copy.instruction().map(str::to_owned), copy.transactions, copy.counts.wavefronts_stored)
    };
    // Of 64 bits eight lanes touch two units either way. Elements 0 and 8 are neighbours: in the order of global memory
    // four lanes would reach half of the banks, each twice.
    let apart = memory(&[8, 1, 2, 4, 16, 32], &[]);
    assert_eq!(copied(&apart, 64), (Some("copy8".to_owned()), 16, 16));
    // Words 0, 16, 32 and 48 are neighbours: in the order of shared memory eight lanes would touch four units, not one.
    let scattered = memory(&[16, 32, 1, 2, 4, 8], &[]);
    assert_eq!(copied(&scattered, 32).1, 8);
}

#[test]
fn what_no_row_can_copy_goes_through_registers() {
    // Seven of eight lanes have nothing to bring.
    let few = memory(&[1], &[]);
    let copy = planned(&few, 32, 1, &own()).expect("a copy");
    assert_eq!((copy.instruction(), copy.queue()), (None, None));
    assert_eq!(copy.rejected.last().expect("rows").reason, "lanes have nothing to bring, and all take part");
    // Whole warps may have nothing to bring.
    let half = memory(&[1, 2, 4, 8, 16], &[]);
    let copy = planned(&half, 32, 8, &own()).expect("a copy");
    assert_eq!((copy.instruction(), copy.accesses()), (Some("copy4"), 1));
    proved(&half, 32, &copy, ONCE, &own());
    // Elements wider than the row.
    let copy = planned(&plain(), 64, 1, &consecutive()).expect("a copy");
    assert_eq!(copy.rejected[0].reason, "it brings 4 bytes at a time, less than an element");
}

#[test]
fn what_may_not_be_there_takes_a_row_with_a_predicate() {
    let (memory, machine) = (plain(), machine());
    let global = GlobalTensor::row_major(&[64], 16);
    let problem = AsyncCopySpec {
        global: &global,
        memory: &memory,
        element_bits: 32,
        lanes: 8,
        warps: 1,
        masked: true,
        mapped: false,
    };
    let by = |rows: &[Instruction]| {
        let copy = copy_to_shared(&problem, PlanContext::of(&machine).with_instructions(rows)).expect("a copy");
        (copy.instruction().map(str::to_owned), copy.rejected)
    };
    assert_eq!(by(&own()).0.as_deref(), Some("copy16"));
    let (instruction, rejected) = by(&consecutive());
    assert_eq!((instruction, &*rejected[0].reason), (None, "it cannot leave out what is not there"));
}

#[test]
fn rows_mean_what_they_say() {
    for row in own().iter().chain(&consecutive()) {
        let report = check_row(row, &machine()).unwrap_or_else(|wrong| panic!("{}: {wrong}", row.name));
        assert_eq!(report.counts.asynchronous_copies, 1, "{}", row.name);
    }
    assert_eq!(consecutive_copy(&own(), &GlobalTensor::row_major(&[64], 16)), None);
    let copy = consecutive_copy(&consecutive(), &GlobalTensor::row_major(&[64], 16)).expect("a row");
    assert_eq!(copy.access_bits, 32);
}

#[test]
fn pipelines_need_all_that_orders_them() {
    let machine = machine();
    for (memory, rows) in [(plain(), own()), (swizzled(), consecutive())] {
        let context = PlanContext::of(&machine).with_instructions(&rows);
        let copy = planned(&memory, 32, 2, &rows).expect("a copy");
        for buffers in 1..=4 {
            let stages = Stages { buffers, tensors: 6, omitted: None };
            proved(&memory, 32, &copy, stages, &rows);
            let without = |omitted| {
                let stages = Stages { omitted: Some(omitted), ..stages };
                match shared_copy_case(&copy, &memory, 32, stages, context)
                    .and_then(|case| check_emulated(&case, context))
                {
                    Err(CheckFailure::Fault(fault)) => fault.kind,
                    other => panic!("{buffers} buffers without {omitted:?}: {other:?}"),
                }
            };
            assert!(matches!(without(OmittedSync::Wait), FaultKind::InFlight { .. }));
            // What others still read is overwritten, or about to be.
            assert!(matches!(without(OmittedSync::Barrier), FaultKind::Race { .. } | FaultKind::InFlight { .. }));
        }
    }
    let copy = planned(&plain(), 32, 1, &[]).expect("a copy");
    let stages = Stages { buffers: 3, tensors: 2, omitted: None };
    let refused = shared_copy_case(&copy, &plain(), 32, stages, &machine)
        .and_then(|case| check_emulated(&case, &machine))
        .expect_err("too few tensors");
    assert!(refused.to_string().contains("3 buffers for 2 tensors"), "{refused}");
}
