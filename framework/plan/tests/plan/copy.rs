//! Tests of copies from global to shared memory on the small test target: the requested elements are in memory, also
//! with several stages; the executed counts equal those of the plan; a kernel without any one of its synchronizations
//! fails.

use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::accesses::{memory, problems};
use test_targets::test_target;
use tilewright_emulator::FaultKind;
use tilewright_layout::{Dim, DimBases, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{
    AsyncCopyPlan, AsyncCopySpec, GlobalTensor, MovementError, PlanContext, find_warp_addressed_copy, plan_async_copy,
};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Queue, Semantics};
use tilewright_verify::kernels::{CopyPipelineConfig, OmittedSync};
use tilewright_verify::{CheckFailure, build_async_copy_case, check_emulated, check_instruction_emulated};

/// Returns a copy instruction: eight lanes copy `bytes` bytes each, to one address of each lane or, if `consecutive`,
/// one after the other.
fn row(name: &str, bytes: u64, consecutive: bool, masked: bool) -> Instruction {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let byte_bases: DimBases = (0..bytes.ilog2()).map(|bit| vec![0, 1 << bit]).collect();
    let each = |step: Vec<u64>| (0..3).map(|bit| step.iter().map(|&by| by << bit).collect()).collect::<DimBases>();
    let data = |lanes: DimBases, segments: u64, segment_bytes: u64| {
        let bases = [(Dim::LANE, lanes), (byte, byte_bases.clone())];
        LinearLayout::from_bases(&bases, &[(segment, segments), (byte, segment_bytes)]).expect("sizes fit")
    };
    let strided = data(each(vec![1, 0]), 8, bytes);
    let address = LinearLayout::identity(8, Dim::LANE, segment).expect("sizes fit");
    let first = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![0]; 3])], &[(segment, 1)]).expect("sizes fit");
    let alignment = bytes as u32;
    let to = match consecutive {
        true => {
            InstructionOperand::Access { data: data(each(vec![0, bytes]), 1, 8 * bytes), address: first, alignment }
        }
        false => InstructionOperand::Access { data: strided.clone(), address: address.clone(), alignment },
    };
    let from = InstructionOperand::Global { data: strided, address, alignment };
    Instruction {
        name: name.to_owned(),
        kind: InstructionKind::AsyncCopy,
        operands: if masked { vec![to, from, InstructionOperand::Predicate] } else { vec![from, to] },
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Copies),
        numerics: None,
        source: "invented".to_owned(),
    }
}

fn test_instructions() -> Vec<Instruction> {
    [16, 8, 4].map(|bytes| row(&format!("copy{bytes}"), bytes, false, true)).to_vec()
}

fn consecutive() -> Vec<Instruction> {
    vec![row("follow4", 4, true, false)]
}

const ONCE: CopyPipelineConfig = CopyPipelineConfig { buffers: 1, tensors: 1, omitted: None };

fn planned(memory: &MemoryLayout, bits: u32, warps: u32, rows: &[Instruction]) -> Result<AsyncCopyPlan, MovementError> {
    let global = GlobalTensor::row_major(&[1 << memory.linear.in_bits(Dim::OFFSET)], 16);
    let problem = AsyncCopySpec::new(&global, memory, bits, 8, warps);
    plan_async_copy(&problem, PlanContext::new(&test_target()).with_instructions(rows))
}

fn proved(memory: &MemoryLayout, bits: u32, copy: &AsyncCopyPlan, stages: CopyPipelineConfig, rows: &[Instruction]) {
    let test_target = test_target();
    let context = PlanContext::new(&test_target).with_instructions(rows);
    let shown = || format!("{bits} bits, {:?}, {copy:#?}\n{}", memory.padding, memory.linear);
    build_async_copy_case(copy, memory, bits, stages, context)
        .and_then(|case| check_emulated(&case, context))
        .unwrap_or_else(|wrong| panic!("{wrong}\n{}", shown()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn copies_fill_memory_by_its_layout(problem in problems(), warps in 0u32..3) {
        for rows in [test_instructions(), consecutive(), Vec::new()] {
            let copy = planned(&problem.memory, problem.bits, 1 << warps, &rows).expect("a copy");
            proved(&problem.memory, problem.bits, &copy, ONCE, &rows);
            let bytes = u64::from(problem.bits / 8) << problem.memory.linear.in_bits(Dim::OFFSET);
            if bytes.is_multiple_of(16) && bytes <= 256 {
                let stages = CopyPipelineConfig { buffers: 3, tensors: 5, omitted: None };
                proved(&problem.memory, problem.bits, &copy, stages, &rows);
            }
        }
    }
}

/// Returns a memory layout of 64 words in rows of eight; its XOR swizzle adds the row to the column.
fn swizzled() -> MemoryLayout {
    memory(&[1, 2, 4, 8 ^ 1, 16 ^ 2, 32 ^ 4], &[])
}

fn plain() -> MemoryLayout {
    memory(&[1, 2, 4, 8, 16, 32], &[])
}

#[test]
fn the_widest_row_that_fits_wins() {
    // Four words of 32 bits are contiguous.
    let copy = planned(&plain(), 32, 1, &test_instructions()).expect("a copy");
    assert_eq!((copy.instruction(), copy.issued_accesses(), copy.bytes_per_access()), (Some("copy16"), 2, 16));
    assert_eq!((copy.completion_queue(), copy.transactions), (Some(Queue::Copies), 8));
    assert_eq!(copy.counts.asynchronous_copies, 2);
    // A swizzle separates all neighbours: single words remain.
    let copy = planned(&swizzled(), 32, 1, &test_instructions()).expect("a copy");
    assert_eq!((copy.instruction(), copy.issued_accesses()), (Some("copy4"), 8));
    let reason = "slots are not aligned as its addresses must be";
    assert!(copy.rejected.iter().all(|rejected| rejected.reason == reason), "{:?}", copy.rejected);
    assert_eq!(copy.rejected.len(), 2);
    // A candidate that is slower than the chosen one is rejected with its cost as the reason.
    let narrow_first: Vec<_> = test_instructions().into_iter().rev().collect();
    let copy = planned(&plain(), 32, 1, &narrow_first[2..]).expect("a copy");
    assert_eq!((copy.instruction(), copy.rejected.len()), (Some("copy16"), 0));
    let copy = planned(&plain(), 32, 1, &test_instructions()).expect("a copy");
    let reasons: Vec<_> = copy.rejected.iter().map(|rejected| &*rejected.reason).collect();
    // Eight wavefronts, four issue slots of half a cycle for each copy, and a quarter of the latency.
    let reason = |cycles| format!("it takes 8 global-memory transactions and {cycles} cycles of a block");
    assert_eq!(reasons, [reason(18), reason(26)]);
}

#[test]
fn lanes_that_follow_each_other_fetch_what_belongs_there() {
    // One address serves all lanes, so they fetch in the order of shared memory; the transactions are the same.
    let copy = planned(&swizzled(), 32, 1, &consecutive()).expect("a copy");
    assert_eq!((copy.instruction(), copy.issued_accesses(), copy.transactions), (Some("follow4"), 8, 8));
    proved(&swizzled(), 32, &copy, ONCE, &consecutive());
    // Padding within the contiguous writes of a warp, which such an instruction cannot do.
    let padded = memory(&[1, 2, 4, 8, 16, 32], &[(4, 4)]);
    let copy = planned(&padded, 32, 1, &consecutive()).expect("a copy");
    assert_eq!(copy.instruction(), None);
    assert_eq!(copy.rejected[0].reason, "padding splits what it writes contiguously");
    let padded = memory(&[1, 2, 4, 8, 16, 32], &[(8, 4)]);
    let copy = planned(&padded, 32, 1, &consecutive()).expect("a copy");
    assert_eq!(copy.instruction(), Some("follow4"));
    proved(&padded, 32, &copy, ONCE, &consecutive());
}

/// Checks whether consecutive lanes follow global memory or shared memory: fewest global-memory transactions win, then
/// fewest wavefronts.
#[test]
fn lanes_follow_the_memory_that_gains_by_it() {
    let copied = |memory: &MemoryLayout, bits: u32| {
        let copy = planned(memory, bits, 1, &test_instructions()).expect("a copy");
        proved(memory, bits, &copy, ONCE, &test_instructions());
        (copy.instruction().map(str::to_owned), copy.transactions, copy.counts.wavefronts_stored)
    };
    // Eight lanes with 64 bits take two transactions in both orders. Elements 0 and 8 are neighbours: in the order of
    // global memory four lanes would reach half of the banks, each twice.
    let strided = memory(&[8, 1, 2, 4, 16, 32], &[]);
    assert_eq!(copied(&strided, 64), (Some("copy8".to_owned()), 16, 16));
    // Words 0, 16, 32 and 48 are neighbours: in the order of shared memory eight lanes would take four transactions,
    // not one.
    let scattered = memory(&[16, 32, 1, 2, 4, 8], &[]);
    assert_eq!(copied(&scattered, 32).1, 8);
}

#[test]
fn copies_without_an_instruction_use_registers() {
    // Seven of eight lanes have no elements to copy.
    let few = memory(&[1], &[]);
    let copy = planned(&few, 32, 1, &test_instructions()).expect("a copy");
    assert_eq!((copy.instruction(), copy.completion_queue()), (None, None));
    assert_eq!(
        copy.rejected.last().expect("rows").reason,
        "some lanes have no elements, and the instruction needs all lanes"
    );
    // Whole warps may have no elements to copy.
    let half = memory(&[1, 2, 4, 8, 16], &[]);
    let copy = planned(&half, 32, 8, &test_instructions()).expect("a copy");
    assert_eq!((copy.instruction(), copy.issued_accesses()), (Some("copy4"), 1));
    proved(&half, 32, &copy, ONCE, &test_instructions());
    // Elements wider than the instruction's access.
    let copy = planned(&plain(), 64, 1, &consecutive()).expect("a copy");
    assert_eq!(copy.rejected[0].reason, "it copies 4 bytes a lane, less than an element");
}

#[test]
fn what_may_not_be_there_takes_a_row_with_a_predicate() {
    let (memory, test_target) = (plain(), test_target());
    let global = GlobalTensor::row_major(&[64], 16);
    let problem = AsyncCopySpec::new(&global, &memory, 32, 8, 1).with_masked(true);
    let by = |rows: &[Instruction]| {
        let copy = plan_async_copy(&problem, PlanContext::new(&test_target).with_instructions(rows)).expect("a copy");
        (copy.instruction().map(str::to_owned), copy.rejected)
    };
    assert_eq!(by(&test_instructions()).0.as_deref(), Some("copy16"));
    let (instruction, rejected) = by(&consecutive());
    assert_eq!((instruction, &*rejected[0].reason), (None, "it cannot mask off elements"));
}

#[test]
fn rows_mean_what_they_say() {
    for row in test_instructions().iter().chain(&consecutive()) {
        let report =
            check_instruction_emulated(row, &test_target()).unwrap_or_else(|wrong| panic!("{}: {wrong}", row.name));
        assert_eq!(report.counts.asynchronous_copies, 1, "{}", row.name);
    }
    assert_eq!(find_warp_addressed_copy(&test_instructions(), &GlobalTensor::row_major(&[64], 16)), None);
    let copy = find_warp_addressed_copy(&consecutive(), &GlobalTensor::row_major(&[64], 16)).expect("a row");
    assert_eq!(copy.access_bits, 32);
}

#[test]
fn pipelines_need_all_that_orders_them() {
    let test_target = test_target();
    for (memory, rows) in [(plain(), test_instructions()), (swizzled(), consecutive())] {
        let context = PlanContext::new(&test_target).with_instructions(&rows);
        let copy = planned(&memory, 32, 2, &rows).expect("a copy");
        for buffers in 1..=4 {
            let stages = CopyPipelineConfig { buffers, tensors: 6, omitted: None };
            proved(&memory, 32, &copy, stages, &rows);
            let without = |omitted| {
                let stages = CopyPipelineConfig { omitted: Some(omitted), ..stages };
                match build_async_copy_case(&copy, &memory, 32, stages, context)
                    .and_then(|case| check_emulated(&case, context))
                {
                    Err(CheckFailure::Fault(fault)) => fault.kind,
                    other => panic!("{buffers} buffers without {omitted:?}: {other:?}"),
                }
            };
            assert!(matches!(without(OmittedSync::Wait), FaultKind::InFlight { .. }));
            // Data that other threads still read is overwritten, or about to be.
            assert!(matches!(without(OmittedSync::Barrier), FaultKind::Race { .. } | FaultKind::InFlight { .. }));
        }
    }
    let copy = planned(&plain(), 32, 1, &[]).expect("a copy");
    let stages = CopyPipelineConfig { buffers: 3, tensors: 2, omitted: None };
    let refused = build_async_copy_case(&copy, &plain(), 32, stages, &test_target)
        .and_then(|case| check_emulated(&case, &test_target))
        .expect_err("too few tensors");
    assert!(refused.to_string().contains("3 buffers for 2 tensors"), "{refused}");
}
