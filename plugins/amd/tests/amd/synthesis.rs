//! Synthesis of shared-memory layouts for copies whose lanes write consecutive addresses, checked by brute force over
//! addresses.

use crate::targets::target;
use tilewright_amd::AmdTarget;
use tilewright_assign::synthesis::coalesce::{CopyThreadCounts, coalesce_layout};
use tilewright_layout::Space;
use tilewright_plan::memory_synthesis::{
    FreeStrideLayout, SharedLayoutSolution, SharedTensor, TensorAccess, choose_accesses_for_layout, solve_shared_layout,
};
use tilewright_plan::movement::{AxisStride, SharedAccessKind};
use tilewright_target::count_access_wavefronts;
use tilewright_vendor_testkit::prelude::*;

const LANES: u64 = 64;

/// Returns a tensor of 64 rows of 32 elements of 16 bits, row-major in global memory.
fn global() -> GlobalTensor {
    let axes = vec![(Dim::tensor(0), 64, AxisStride::MultipleOf(8)), (Dim::tensor(1), 32, AxisStride::Elements(1))];
    GlobalTensor::new(axes, 16)
}

fn distributed(registers: &[u64], lanes: &[u64], warps: &[u64]) -> LinearLayout {
    let mut ins = Space::default();
    for (dim, columns) in [(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps)] {
        ins.push(dim, columns.len() as u32).expect("small");
    }
    let outs = Space::from_sizes(&[(Dim::tensor(0), 64), (Dim::tensor(1), 32)]).expect("small");
    LinearLayout::from_columns(ins, outs, &[registers, lanes, warps].concat()).expect("small")
}

/// Returns layouts of operands over four warps. Two of the warps hold different halves of the rows; a lane has one row,
/// or two lanes share a row, with some adjacent elements together. Rows are bits 0 to 5 of an element's index, columns
/// bits 6 to 10.
fn operand_layouts() -> Vec<LinearLayout> {
    let row = |bits: &[u32]| bits.iter().map(|bit| 1u64 << bit).collect::<Vec<u64>>();
    vec![
        distributed(&row(&[6, 7, 10]), &row(&[1, 2, 3, 4, 8, 9]), &[1, 1 << 5]),
        distributed(&row(&[6, 7, 9, 10]), &row(&[0, 1, 2, 3, 4, 8]), &[1 << 5, 0]),
        distributed(&row(&[6, 7, 8, 10]), &row(&[0, 1, 2, 3, 4, 9]), &[1 << 5, 0]),
        distributed(&row(&[6, 7, 8, 9, 10]), &row(&[5, 4, 3, 2, 1, 0]), &[0, 0]),
        distributed(&row(&[6, 10, 9]), &row(&[3, 4, 0, 1, 7, 8]), &row(&[5, 2])),
    ]
}

fn found(target: &AmdTarget, copied: &LinearLayout, operand_layout: &LinearLayout) -> SharedLayoutSolution {
    let context = build_plan_context(target);
    let copy = TensorAccess::global_to_shared_copy("the copy", copied.clone(), &context)
        .with_retained_alternatives(|kind| kind.instruction().is_some());
    let accesses = [copy, TensorAccess::load("the load", operand_layout.clone(), &context)];
    solve_shared_layout(&SharedTensor::new(&[64, 32], 16), &accesses, &context).expect("a memory")
}

/// Returns the byte offset of an element in shared memory.
fn offset_of(solution: &SharedLayoutSolution, element: u64) -> u64 {
    2 * solution.memory.linear.invert().expect("a memory").apply_packed(element)
}

/// Returns the number of 64-byte sectors of global memory that a copy of these elements touches; rows are not
/// contiguous.
fn units(elements: impl Iterator<Item = u64>) -> usize {
    elements.map(|element| (element & 63, element >> 6 >> 5)).collect::<BTreeSet<_>>().len()
}

#[test]
fn lanes_bring_side_by_side_what_the_memory_wants_there() {
    let target = target("mi300x");
    let threads = CopyThreadCounts { lanes: LANES, warps: 4 };
    let copied = coalesce_layout(&global(), 16, threads, Some(&[16, 32]), target.description()).expect("a copy").layout;
    let mut swizzled = 0;
    for operand_layout in operand_layouts() {
        let solution = found(&target, &copied, &operand_layout);
        let [copy, load] = &solution.served[..] else { panic!("{solution}") };
        assert_eq!(copy.instruction.as_deref(), Some("global_load_lds_dword"), "{solution}");
        let fetched = copy.fetched.as_ref().expect("lanes that fetch");
        let (mut seen, registers) = (BTreeSet::new(), fetched.in_bits(Dim::REGISTER));
        let element = |layout: &LinearLayout, register: u64, lane: u64, warp: u64| {
            layout.apply_packed(register | lane << registers | warp << (registers + 6))
        };
        for warp in 0..4 {
            for register in (0..1u64 << registers).step_by(2) {
                let base = offset_of(&solution, element(fetched, register, 0, warp));
                for lane in 0..LANES {
                    // Four bytes of a lane, adjacent in both memories, with consecutive lanes.
                    let [low, high] = [0, 1].map(|odd| element(fetched, register + odd, lane, warp));
                    assert_eq!(offset_of(&solution, low), base + 4 * lane, "{solution}");
                    assert_eq!((offset_of(&solution, high), high), (base + 4 * lane + 2, low + 64), "{solution}");
                    seen.extend([low, high]);
                }
                let of = |layout: &LinearLayout| units((0..LANES).map(|lane| element(layout, register, lane, warp)));
                assert_eq!(of(fetched), of(&copied), "no more sectors of global memory: {solution}");
            }
        }
        assert_eq!(seen.len(), 64 * 32, "all is brought: {solution}");
        // The load takes as many wavefronts as its addresses need, the minimum.
        let row = target.description().find_bank_row(Direction::Load, 8 * load.bytes as u32).expect("a width");
        let firsts = (0..1u64 << operand_layout.in_bits(Dim::REGISTER)).map(|register| {
            let at = |lane: u64| {
                offset_of(
                    &solution,
                    operand_layout.apply_packed(register | lane << operand_layout.in_bits(Dim::REGISTER)),
                )
            };
            (0..LANES).map(at).collect::<Vec<u64>>()
        });
        let accesses = firsts.filter(|offsets| offsets[0] % load.bytes == 0);
        let counted: u64 = accesses
            .map(|offsets| {
                count_access_wavefronts(row, &offsets.into_iter().map(Some).collect::<Vec<_>>(), load.bytes as u32)
            })
            .sum();
        assert_eq!((load.wavefronts, load.conflict_wavefronts()), (counted, 0), "{solution}");
        swizzled += usize::from(!solution.swizzles.is_empty());
        // The memory layout that was found, given back to the planner, gives the same accesses; the lanes' offsets are
        // linear in the lane's bits.
        let context = build_plan_context(&target);
        let requests = [
            TensorAccess::global_to_shared_copy("the copy", fetched.clone(), &context)
                .with_retained_alternatives(|kind| kind.instruction().is_some()),
            TensorAccess::load("the load", operand_layout.clone(), &context),
        ];
        let served =
            choose_accesses_for_layout(&SharedTensor::new(&[64, 32], 16), &requests, &solution.memory, &context)
                .expect("all go");
        assert_eq!(served.served[0].fetched.as_ref(), Some(fetched));
        assert_eq!(served.served[1].wavefronts, load.wavefronts);
    }
    assert!(swizzled > 0, "some need a swizzle");
}

/// Checks that copies are rejected if several lanes or warps copy the same elements, because such lanes cannot write
/// consecutive addresses.
#[test]
fn lanes_that_bring_the_same_are_refused() {
    let target = target("mi300x");
    let rows = target.instructions().iter();
    let kind = rows
        .filter_map(|row| SharedAccessKind::from_instruction(row, 6))
        .find(SharedAccessKind::has_fetching_lanes)
        .expect("the copy");
    let bit = |bits: &[u32]| bits.iter().map(|bit| 1u64 << bit).collect::<Vec<u64>>();
    let accumulator = distributed(&bit(&[6]), &[1 << 7, 1 << 8 | 1 << 7, 1 << 9, 1 << 10, 1, 2 | 1], &bit(&[2, 3]));
    let term = FreeStrideLayout::from_access(&accumulator, &kind, 16).expect("sums of bits do");
    assert_eq!((term.preserved_bits(), term.decided_bits()), (1, 7));
    for (lanes, warps, reason) in [
        ([1 << 7, 1 << 7, 1 << 9, 1 << 10, 1, 2], [4, 8], "lanes copy the same"),
        ([1 << 7, 1 << 8, 1 << 9, 1 << 10, 1, 2 | 4], [4, 8], "no coordinate bits distinguish"),
        ([1 << 7, 1 << 8, 1 << 9, 1 << 10, 1, 2], [2, 8], "move along the same bits"),
    ] {
        let refused =
            FreeStrideLayout::from_access(&distributed(&[1 << 6], &lanes, &warps), &kind, 16).expect_err(reason);
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    let scattered =
        FreeStrideLayout::from_access(&distributed(&[1 << 6 | 1], &[128, 256, 512, 1024, 2, 4], &[8, 16]), &kind, 16);
    assert!(scattered.expect_err("a lane's own").to_string().contains("contiguous bytes of global memory"));
}
