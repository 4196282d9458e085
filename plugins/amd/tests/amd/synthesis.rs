//! Shared memory behind copies whose lanes write side by side, by brute force over addresses.

use crate::targets::target;
use tilewright_amd::AmdTarget;
use tilewright_assign::synthesis::coalesce::{Threads, coalesced};
use tilewright_layout::Space;
use tilewright_plan::memory_synthesis::{SharedTensor, Solution, StrideTerm, TensorAccess, serve, solve};
use tilewright_plan::movement::{AccessKind, AxisStride};
use tilewright_target::wavefronts;
use tilewright_vendor_testkit::prelude::*;

const LANES: u64 = 64;

/// 64 rows of 32 elements of 16 bits, row after row in global memory.
fn global() -> GlobalTensor {
    let axes = vec![(Dim::tensor(0), 64, AxisStride::MultipleOf(8)), (Dim::tensor(1), 32, AxisStride::Elements(1))];
    GlobalTensor { axes, alignment: 16 }
}

fn distributed(registers: &[u64], lanes: &[u64], warps: &[u64]) -> LinearLayout {
    let mut ins = Space::default();
    for (dim, columns) in [(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps)] {
        ins.push(dim, columns.len() as u32).expect("small");
    }
    let outs = Space::of_sizes(&[(Dim::tensor(0), 64), (Dim::tensor(1), 32)]).expect("small");
    LinearLayout::from_columns(ins, outs, &[registers, lanes, warps].concat()).expect("small")
}

/// Of four warps two have different halves of the rows, and all lanes a row each, or two lanes share one: so many elements of a row
/// together. Rows are bits 0 to 5 of a place, columns bits 6 to 10.
fn factors() -> Vec<LinearLayout> {
    let row = |bits: &[u32]| bits.iter().map(|bit| 1u64 << bit).collect::<Vec<u64>>();
    vec![
        distributed(&row(&[6, 7, 10]), &row(&[1, 2, 3, 4, 8, 9]), &[1, 1 << 5]),
        distributed(&row(&[6, 7, 9, 10]), &row(&[0, 1, 2, 3, 4, 8]), &[1 << 5, 0]),
        distributed(&row(&[6, 7, 8, 10]), &row(&[0, 1, 2, 3, 4, 9]), &[1 << 5, 0]),
        distributed(&row(&[6, 7, 8, 9, 10]), &row(&[5, 4, 3, 2, 1, 0]), &[0, 0]),
        distributed(&row(&[6, 10, 9]), &row(&[3, 4, 0, 1, 7, 8]), &row(&[5, 2])),
    ]
}

fn found(target: &AmdTarget, copied: &LinearLayout, factor: &LinearLayout) -> Solution {
    let context = context(target);
    let copy = TensorAccess::copy("the copy", copied.clone(), &context).only(|way| way.instruction().is_some());
    let accesses = [copy, TensorAccess::load("the load", factor.clone(), &context)];
    solve(&SharedTensor::new(&[64, 32], 16), &accesses, &context).expect("a memory")
}

/// Where an element lies, in bytes.
fn place(solution: &Solution, element: u64) -> u64 {
    2 * solution.memory.linear.invert().expect("a memory").apply_packed(element)
}

/// The units of 64 bytes of global memory that a copy touches: rows lie apart.
fn units(elements: impl Iterator<Item = u64>) -> usize {
    elements.map(|element| (element & 63, element >> 6 >> 5)).collect::<BTreeSet<_>>().len()
}

#[test]
fn lanes_bring_side_by_side_what_the_memory_wants_there() {
    let target = target("mi300x");
    let threads = Threads { lanes: LANES, warps: 4 };
    let copied = coalesced(&global(), 16, threads, Some(&[16, 32]), target.description()).expect("a copy").layout;
    let mut swizzled = 0;
    for factor in factors() {
        let solution = found(&target, &copied, &factor);
        let [copy, load] = &solution.served[..] else { panic!("{solution}") };
        assert_eq!(copy.instruction.as_deref(), Some("global_load_lds_dword"), "{solution}");
        let fetched = copy.fetched.as_ref().expect("lanes that fetch");
        let (mut seen, registers) = (BTreeSet::new(), fetched.in_bits(Dim::REGISTER));
        let element = |layout: &LinearLayout, register: u64, lane: u64, warp: u64| {
            layout.apply_packed(register | lane << registers | warp << (registers + 6))
        };
        for warp in 0..4 {
            for register in (0..1u64 << registers).step_by(2) {
                let base = place(&solution, element(fetched, register, 0, warp));
                for lane in 0..LANES {
                    // Four bytes of a lane, neighbours in both memories, lanes one after the other.
                    let [low, high] = [0, 1].map(|odd| element(fetched, register + odd, lane, warp));
                    assert_eq!(place(&solution, low), base + 4 * lane, "{solution}");
                    assert_eq!((place(&solution, high), high), (base + 4 * lane + 2, low + 64), "{solution}");
                    seen.extend([low, high]);
                }
                let of = |layout: &LinearLayout| units((0..LANES).map(|lane| element(layout, register, lane, warp)));
                assert_eq!(of(fetched), of(&copied), "no more units of global memory: {solution}");
            }
        }
        assert_eq!(seen.len(), 64 * 32, "all is brought: {solution}");
        // What is loaded takes as many wavefronts as its addresses say, and no more than it must.
        let row = target.description().bank_row(Direction::Load, 8 * load.bytes as u32).expect("a width");
        let firsts = (0..1u64 << factor.in_bits(Dim::REGISTER)).map(|register| {
            let at =
                |lane: u64| place(&solution, factor.apply_packed(register | lane << factor.in_bits(Dim::REGISTER)));
            (0..LANES).map(at).collect::<Vec<u64>>()
        });
        let accesses = firsts.filter(|places| places[0] % load.bytes == 0);
        let counted: u64 = accesses
            .map(|places| wavefronts(row, &places.into_iter().map(Some).collect::<Vec<_>>(), load.bytes as u32))
            .sum();
        assert_eq!((load.wavefronts, load.conflicts()), (counted, 0), "{solution}");
        swizzled += usize::from(!solution.swizzles.is_empty());
        // What was found is served as it was found, by lanes that move by sums of bits.
        let context = context(&target);
        let again = [
            TensorAccess::copy("the copy", fetched.clone(), &context).only(|way| way.instruction().is_some()),
            TensorAccess::load("the load", factor.clone(), &context),
        ];
        let served = serve(&SharedTensor::new(&[64, 32], 16), &again, &solution.memory, &context).expect("all go");
        assert_eq!(served.served[0].fetched.as_ref(), Some(fetched));
        assert_eq!(served.served[1].wavefronts, load.wavefronts);
    }
    assert!(swizzled > 0, "some need a swizzle");
}

/// Lanes that bring the same, or what others bring too, cannot lie side by side.
#[test]
fn lanes_that_bring_the_same_are_refused() {
    let target = target("mi300x");
    let rows = target.instructions().iter();
    let way = rows.filter_map(|row| AccessKind::of_row(row, 6)).find(AccessKind::is_fetched).expect("the copy");
    let bit = |bits: &[u32]| bits.iter().map(|bit| 1u64 << bit).collect::<Vec<u64>>();
    let accumulator = distributed(&bit(&[6]), &[1 << 7, 1 << 8 | 1 << 7, 1 << 9, 1 << 10, 1, 2 | 1], &bit(&[2, 3]));
    let term = StrideTerm::of_access(&accumulator, &way, 16).expect("sums of bits do");
    assert_eq!((term.firm_bits(), term.decided_bits()), (1, 7));
    for (lanes, warps, reason) in [
        ([1 << 7, 1 << 7, 1 << 9, 1 << 10, 1, 2], [4, 8], "lanes bring the same"),
        ([1 << 7, 1 << 8, 1 << 9, 1 << 10, 1, 2 | 4], [4, 8], "no bits of coordinates tell apart"),
        ([1 << 7, 1 << 8, 1 << 9, 1 << 10, 1, 2], [2, 8], "move as others do"),
    ] {
        let refused = StrideTerm::of_access(&distributed(&[1 << 6], &lanes, &warps), &way, 16).expect_err(reason);
        assert!(refused.contains(reason), "{refused}");
    }
    let apart = StrideTerm::of_access(&distributed(&[1 << 6 | 1], &[128, 256, 512, 1024, 2, 4], &[8, 16]), &way, 16);
    assert!(apart.expect_err("a lane's own").contains("in the order of memory"));
}
