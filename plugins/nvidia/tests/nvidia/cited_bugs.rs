//! Miscompilations of Triton that the Linear Layouts paper, section 5.1, cites, as test cases. Each case moves data as
//! the reported kernel does. Its layouts put the axes into registers, lanes and warps in turn, with replicas if the
//! tensor is smaller than the block.

use crate::layouts::{dot_operand, mma};
use crate::prelude::*;
use tilewright_lower::registers::row_major_index;
use tilewright_lower::{LowerErrorReason, RegisterTensorParameter, build_and_lower_tensor_function, reduced_layout};
use tilewright_tile::op::name::tt;
use tilewright_tile::{FunctionBuilder, Op, TileType, Value};
use tilewright_vendor_testkit::layouts::{format_blocked_layout, resolve_distributed};
use tilewright_verify::kernels::emit_tuple_add;

/// Returns the register values of a layout after a kernel has run, each with the row-major index of its element.
fn registers(layout: &LinearLayout, written: &[u8]) -> Vec<(u64, u32)> {
    let (lane_bits, warp_bits) = (layout.in_bits(Dim::LANE), layout.in_bits(Dim::WARP));
    let found = |packed: u64| {
        let at = |dim| layout.ins().coordinate(packed, dim);
        let index = at(Dim::REGISTER) << (lane_bits + warp_bits) | at(Dim::WARP) << lane_bits | at(Dim::LANE);
        let bytes = &written[4 * index as usize..][..4];
        (row_major_index(layout, layout.apply_packed(packed)), u32::from_le_bytes(bytes.try_into().unwrap()))
    };
    (0..1u64 << layout.ins().total_bits()).map(found).collect()
}

/// Returns an operation on `tensor` along an axis that sums `i32`s (a reduction or scan), and the operation's result.
fn along(
    builder: &mut FunctionBuilder<'_>,
    [name, end]: [&str; 2],
    tensor: Value,
    axis: i32,
    result: TileType,
) -> Result<(Op, Value), LowerErrorReason> {
    let op = builder.build_op(name).operand(tensor).attribute("axis", axis).result(result);
    let op = if name == tt::SCAN { op.attribute("reverse", false) } else { op };
    let op = op.region(vec![TileType::integer(32); 2], |builder, sides| {
        let sum = emit_tuple_add(builder, &sides[..1], &sides[1..])?;
        builder.build_op(end).operand(sum[0]).build().map(drop)
    });
    let op = op.build()?;
    Ok((op, builder.body().op(op).results[0]))
}

/// Checks Triton issue 3017: in one kernel, `tl.sum` along one axis of the result of `tl.cumsum` along another, for a
/// 16x16x16 tensor. Both use shared memory if warps are along their axis.
#[test]
fn a_sum_after_a_cumulative_sum() {
    let target = target("a100");
    let mut through_memory = [false; 2];
    let configurations: [[[u64; 3]; 3]; 5] = [
        [[1, 1, 4], [2, 4, 4], [4, 1, 1]],
        [[1, 1, 4], [2, 4, 4], [1, 4, 1]],
        [[1, 4, 1], [1, 2, 16], [2, 2, 1]],
        [[4, 1, 1], [4, 8, 1], [1, 1, 4]],
        [[1, 1, 1], [8, 4, 1], [2, 2, 1]],
    ];
    for [size, lanes, warps] in configurations {
        let src =
            resolve_distributed(&target, &format_blocked_layout(&size, &lanes, &warps, &[2, 1, 0]), &[16, 16, 16]);
        let cumulative = plan_scan(&src, Dim::tensor(0), &[32], ScanDirection::Forward, target.description()).unwrap();
        let sum = plan_reduction(&src, Dim::tensor(1), &[32], target.description()).unwrap();
        for (seen, counts) in through_memory.iter_mut().zip([cumulative.stats.counts, sum.stats.counts]) {
            *seen |= counts.barriers > 0;
        }
        let tensor = RegisterTensorParameter { name: "tensor", layout: &src, element_bits: 32 };
        let result = reduced_layout(&sum.result, Dim::tensor(1)).unwrap();
        let kernel = build_and_lower_tensor_function(
            "both",
            &[tensor],
            target.description().into(),
            |builder, tensors, plans| {
                let (ty, reduced) = (tensor.ty()?, RegisterTensorParameter { layout: &result, ..tensor }.ty()?);
                let scanned = along(builder, [tt::SCAN, tt::SCAN_RETURN], tensors[0], 0, ty)?;
                plans.scans.insert(scanned.0, cumulative.clone());
                let summed = along(builder, [tt::REDUCE, tt::REDUCE_RETURN], scanned.1, 1, reduced)?;
                plans.reductions.insert(summed.0, sum.clone());
                Ok(vec![summed.1])
            },
        );
        let kernel = kernel.unwrap();
        let element = |i: u32, j: u32, k: u32| ((i * 16 + j) * 16 + k).wrapping_mul(0x9e37_79b9) >> 7;
        let tensor = (0..4096u32).flat_map(|at| element(at >> 8, at >> 4 & 15, at & 15).to_le_bytes()).collect();
        let buffers = [InitialBuffer::Bytes(tensor), InitialBuffer::Empty(4 << sum.result.ins().total_bits())];
        let (left, _) = run_block(&target, &kernel, &buffers, &[]).unwrap();
        for (index, found) in registers(&sum.result, &left[1]) {
            let (i, k) = (index as u32 / 16, index as u32 % 16);
            let terms = (0..=i).flat_map(|upto| (0..16).map(move |j| element(upto, j, k)));
            assert_eq!(found, terms.fold(0, u32::wrapping_add), "row {i}, column {k}, {size:?} {lanes:?} {warps:?}");
        }
    }
    assert_eq!(through_memory, [true; 2], "some arrangement needs shared memory for each");
}

/// Checks Triton issue 4362: reverse `tl.associative_scan` of pairs by the composition of first-order recurrences,
/// which does not commute. Tensors range from less than a warp to several times the block.
#[test]
fn a_scan_of_pairs_from_the_end() {
    let target = target("a100");
    for size in [1, 4] {
        let layout = format_blocked_layout(&[size], &[32], &[4], &[0]);
        for bits in 3..11 {
            let src = resolve_distributed(&target, &layout, &[1 << bits]);
            for direction in [ScanDirection::Forward, ScanDirection::Reverse] {
                let plan = plan_scan(&src, Dim::tensor(0), &[32, 32], direction, target.description()).unwrap();
                let case = build_scan_case((&src, Dim::tensor(0)), &[32, 32], (&plan, direction), target.description());
                check_case(case, target.description(), format!("2^{bits}, {size} a lane, {direction:?}"));
            }
        }
    }
}

/// Checks the data movement of Triton issue 4310, an attention kernel with wrong results whose cause the report does
/// not name: the maximum and sum of every row of the scores, these values as a column of the second dot's operand, and
/// the scores as that operand. Warps are along the rows, along the columns, or more than the tile has rows.
#[test]
fn the_movements_of_attention() {
    let target = target("a100");
    for (warps, shape) in
        [([4, 1], [128, 64]), ([2, 2], [64, 64]), ([1, 4], [16, 64]), ([8, 1], [64, 32]), ([2, 4], [16, 16])]
    {
        let mma = mma(2, &warps, &[16, 8]);
        let scores = resolve_distributed(&target, &mma, &shape);
        let plan = plan_reduction(&scores, Dim::tensor(1), &[32], target.description()).unwrap();
        let case = build_reduction_case((&scores, Dim::tensor(1)), &[32], &plan, target.description());
        check_case(case, target.description(), &mma);
        let column = resolve_distributed(&target, &format!("#ttg.slice<{{dim = 1, parent = {mma}}}>"), &shape[..1]);
        let count: u64 = warps.iter().product();
        let stored = resolve_distributed(&target, &format_blocked_layout(&[1], &[32], &[count], &[0]), &shape[..1]);
        let operand = resolve_distributed(&target, &dot_operand(0, &mma, 2), &shape);
        for (src, dst, bits) in [(&plan.result, &column, 32), (&column, &stored, 32), (&scores, &operand, 16)] {
            let plan = plan_conversion(src, dst, bits, build_plan_context(&target)).unwrap();
            check_case(
                build_conversion_case([src, dst], bits, &plan, build_plan_context(&target)),
                build_plan_context(&target),
                &mma,
            );
        }
    }
}
