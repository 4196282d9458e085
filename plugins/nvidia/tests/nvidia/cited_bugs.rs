//! The wrong results of the Triton compiler that seed 000, section 5.1, cites, as cases here: each moves
//! data as the reported kernel does, in layouts that put the axes into registers, lanes and warps in turn,
//! and with copies where the tensor is smaller than the block.

use crate::layouts::{dot_operand, mma};
use crate::prelude::*;
use tilewright_lower::registers::{kernel_around, row_major};
use tilewright_plan::movement::Combine;
use tilewright_vendor_testkit::layouts::{blocked, distributed};

/// What registers of a layout hold after a kernel, each with the row-major index of its element.
fn registers(layout: &LinearLayout, written: &[u8]) -> Vec<(u64, u32)> {
    let (lane_bits, warp_bits) = (layout.in_bits(Dim::LANE), layout.in_bits(Dim::WARP));
    let found = |place: u64| {
        let at = |dim| layout.ins().coordinate(place, dim);
        let index = at(Dim::REGISTER) << (lane_bits + warp_bits) | at(Dim::WARP) << lane_bits | at(Dim::LANE);
        let bytes = &written[4 * index as usize..][..4];
        (row_major(layout, layout.apply_packed(place)), u32::from_le_bytes(bytes.try_into().unwrap()))
    };
    (0..1u64 << layout.ins().bits()).map(found).collect()
}

/// Triton issue 3017: `tl.sum` along one axis of what `tl.cumsum` along another gives, of a 16x16x16
/// tensor, in one kernel. Both go through shared memory where warps hold their axis.
#[test]
fn a_sum_after_a_cumulative_sum() {
    let target = target("a100");
    let mut through_memory = [false; 2];
    let arrangements: [[[u64; 3]; 3]; 5] = [
        [[1, 1, 4], [2, 4, 4], [4, 1, 1]],
        [[1, 1, 4], [2, 4, 4], [1, 4, 1]],
        [[1, 4, 1], [1, 2, 16], [2, 2, 1]],
        [[4, 1, 1], [4, 8, 1], [1, 1, 4]],
        [[1, 1, 1], [8, 4, 1], [2, 2, 1]],
    ];
    for [size, lanes, warps] in arrangements {
        let src = distributed(&target, &blocked(&size, &lanes, &warps, &[2, 1, 0]), &[16, 16, 16]);
        let cumulative = scan(&src, Dim::tensor(0), &[32], ScanDirection::Up, target.description()).unwrap();
        let sum = reduce(&src, Dim::tensor(1), &[32], target.description()).unwrap();
        for (seen, counts) in through_memory.iter_mut().zip([cumulative.figures.counts, sum.figures.counts]) {
            *seen |= counts.barriers > 0;
        }
        let add: &mut Combine = &mut |builder, a, b| vec![builder.binary(Binary::Add, a[0], b[0])];
        let kernel = kernel_around("both", &src, &sum.result, &[32], |builder, tensors| {
            let scanned = cumulative.emit(builder, tensors, add);
            sum.emit(builder, &scanned, add)
        });
        let kernel = kernel.unwrap();
        let element = |i: u32, j: u32, k: u32| ((i * 16 + j) * 16 + k).wrapping_mul(0x9e37_79b9) >> 7;
        let tensor = (0..4096u32).flat_map(|at| element(at >> 8, at >> 4 & 15, at & 15).to_le_bytes()).collect();
        let buffers = [Given::Bytes(tensor), Given::Empty(4 << sum.result.ins().bits())];
        let (left, _) = run_block(&target, &kernel, &buffers, &[]).unwrap();
        for (index, found) in registers(&sum.result, &left[1]) {
            let (i, k) = (index as u32 / 16, index as u32 % 16);
            let terms = (0..=i).flat_map(|upto| (0..16).map(move |j| element(upto, j, k)));
            assert_eq!(found, terms.fold(0, u32::wrapping_add), "row {i}, column {k}, {size:?} {lanes:?} {warps:?}");
        }
    }
    assert_eq!(through_memory, [true; 2], "some arrangement needs shared memory for each");
}

/// Triton issue 4362: `tl.associative_scan` of pairs from the end, by the composition of first-order
/// recurrences, which does not commute; of tensors from less than a warp to several times the block.
#[test]
fn a_scan_of_pairs_from_the_end() {
    let target = target("a100");
    for size in [1, 4] {
        let layout = blocked(&[size], &[32], &[4], &[0]);
        for bits in 3..11 {
            let src = distributed(&target, &layout, &[1 << bits]);
            for direction in [ScanDirection::Up, ScanDirection::Down] {
                let plan = scan(&src, Dim::tensor(0), &[32, 32], direction, target.description()).unwrap();
                let case = scan_case((&src, Dim::tensor(0)), &[32, 32], (&plan, direction));
                proven_case(case, target.description(), format!("2^{bits}, {size} a lane, {direction:?}"));
            }
        }
    }
}

/// Triton issue 4310: a kernel of attention whose results a newer compiler got wrong; the report names no
/// cause. What its layouts ask of movement: the largest and the sum of every row of the scores, those
/// as a column beside the second product, and the scores as that product's operand; where warps lie along
/// the rows, where they lie along the columns, and where a tile is smaller than the warps' own.
#[test]
fn the_movements_of_attention() {
    let target = target("a100");
    for (warps, shape) in
        [([4, 1], [128, 64]), ([2, 2], [64, 64]), ([1, 4], [16, 64]), ([8, 1], [64, 32]), ([2, 4], [16, 16])]
    {
        let mma = mma(2, &warps, &[16, 8]);
        let scores = distributed(&target, &mma, &shape);
        let plan = reduce(&scores, Dim::tensor(1), &[32], target.description()).unwrap();
        proven_case(reduction_case((&scores, Dim::tensor(1)), &[32], &plan), target.description(), &mma);
        let column = distributed(&target, &format!("#ttg.slice<{{dim = 1, parent = {mma}}}>"), &shape[..1]);
        let count: u64 = warps.iter().product();
        let stored = distributed(&target, &blocked(&[1], &[32], &[count], &[0]), &shape[..1]);
        let operand = distributed(&target, &dot_operand(0, &mma, 2), &shape);
        for (src, dst, bits) in [(&plan.result, &column, 32), (&column, &stored, 32), (&scores, &operand, 16)] {
            let plan = convert(src, dst, bits, means(&target)).unwrap();
            proven_case(conversion_case([src, dst], bits, &plan), means(&target), &mma);
        }
    }
}
