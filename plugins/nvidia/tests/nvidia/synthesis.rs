//! Synthesis of shared-memory layouts with NVIDIA's instructions. The layouts are as good as or better than those of a
//! public solver, canonical layouts of the hardware are found, and 4-bit elements are packed so that `ldmatrix` loads
//! them as operands.

use crate::prelude::*;
use serde_json::Value;
use tilewright_assign::synthesis::coalesce::{CopyThreadCounts, coalesce_layout};
use tilewright_layout::cute::{ComposedLayout, Swizzle, to_distributed, to_memory};
use tilewright_plan::memory_synthesis::{
    MemorySynthesisError, SharedLayoutSolution, SharedTensor, TensorAccess, solve_shared_layout,
};
use tilewright_plan::movement::{AxisStride, plan_global_access};

fn distributed(layout: &str, shape: &[u64]) -> LinearLayout {
    to_distributed(&layout.parse().unwrap(), shape, 32).unwrap()
}

/// Returns a layout of a part of a tensor, repeated in registers along dim1 up to `size`.
fn repeated(layout: &LinearLayout, size: u64) -> LinearLayout {
    let dim1 = Dim::tensor(1);
    let more = size >> layout.out_bits(dim1);
    let rest = LinearLayout::identity(more, Dim::REGISTER, dim1).unwrap();
    layout.direct_sum(&rest).unwrap()
}

fn by<'s>(solution: &'s SharedLayoutSolution, access: &str) -> &'s str {
    solution
        .served
        .iter()
        .find(|one| one.access == access)
        .and_then(|one| one.instruction.as_deref())
        .unwrap_or("plain")
}

/// Returns the wavefronts of the copy and of the load together in the public solver's layout, with the best swizzle
/// functor and the best accesses.
fn theirs(layout: &str, shape: &[u64], load: &LinearLayout, copy: &LinearLayout, context: PlanContext<'_>) -> u64 {
    let layout = layout.parse::<tilewright_layout::cute::CuteLayout>().unwrap();
    let bits = shape.iter().product::<u64>().ilog2();
    let taken = |memory: &MemoryLayout| {
        let loaded =
            plan_shared_access(load, memory, 16, Direction::Load, context).unwrap().stats.counts.wavefronts_loaded;
        loaded
            + plan_shared_access(copy, memory, 16, Direction::Store, context.with_instructions(&[]))
                .unwrap()
                .stats
                .counts
                .wavefronts_stored
    };
    let swizzles = (1..4u32).flat_map(|count| {
        (3..=bits - 2 * count).flat_map(move |base| (count..=bits - base - count).map(move |by| (count, base, by)))
    });
    let swizzles = swizzles.map(|(count, base, by)| vec![Swizzle::new(count, base, by as i32).unwrap()]);
    let of = |swizzles| taken(&to_memory(&ComposedLayout::new(swizzles, 0, layout.clone()).unwrap(), shape).unwrap());
    swizzles.chain([vec![]]).map(of).min().unwrap()
}

/// Compares layouts for nine programs with those of a public solver. Seven programs have two tensors in shared memory.
#[test]
fn choices_of_a_public_solver_are_met_or_beaten() {
    let known: Value = serde_json::from_str(include_str!("../data/solver_choices.json")).unwrap();
    let target = target("a100");
    let context = build_plan_context(&target);
    let cases = known["shared"].as_array().unwrap();
    assert_eq!(cases.len(), 14);
    for case in cases {
        let name = format!("{} {}", case["program"], case["tensor"]);
        let text = |key: &str| case[key].as_str().unwrap();
        let sizes = |key: &str| case[key].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect::<Vec<_>>();
        let shape = sizes("shape");
        let load = repeated(&distributed(text("load"), &sizes("load_tile")), shape[1]);
        let copy = distributed(text("copy"), &shape);
        let accesses = [
            TensorAccess::global_to_shared_copy("copy", copy.clone(), &context),
            TensorAccess::load("load", load.clone(), &context),
        ];
        let found = solve_shared_layout(&SharedTensor::new(&shape, 16), &accesses, &context).unwrap();
        assert!(found.served[0].bytes >= case["copy_bytes"].as_u64().unwrap(), "{name}: {found}");
        assert!(found.served[1].bytes >= case["load_bytes"].as_u64().unwrap(), "{name}: {found}");
        assert!(
            by(&found, "copy").starts_with("cp.async") && by(&found, "load").starts_with(text("load_by")),
            "{name}"
        );
        let ours: u64 = found.served.iter().map(|one| one.wavefronts).sum();
        let theirs = theirs(text("layout"), &shape, &load, &copy, context);
        assert!(ours <= theirs, "{name}: {ours} wavefronts, and {theirs} in {}\n{found}", text("layout"));
        assert_eq!(found.conflict_wavefronts(), 0, "{name}: {found}");
    }
}

/// Compares copies between global memory and registers in all nine programs, including two matrix-vector products, with
/// those of a public solver: vectors are as wide, and there are no more accesses and no more sectors.
#[test]
fn copies_of_a_public_solver_are_met_or_beaten() {
    let known: Value = serde_json::from_str(include_str!("../data/solver_choices.json")).unwrap();
    let target = target("a100");
    let cases = known["global"].as_array().unwrap();
    assert_eq!(cases.len(), 9);
    assert_eq!(cases.iter().filter(|case| case["program"].as_str().unwrap().starts_with("gemv")).count(), 2);
    for case in cases {
        let name = format!("{} {}", case["program"], case["copy"]);
        let tile: Vec<u64> = case["tile"].as_array().unwrap().iter().map(|size| size.as_u64().unwrap()).collect();
        let theirs = distributed(case["layout"].as_str().unwrap(), &tile);
        // The first values of a lane are contiguous in memory; its rows are a multiple of 16 bytes apart.
        let row = usize::from(theirs.outs().coordinate(theirs.columns_of(Dim::REGISTER)[0], Dim::tensor(0)) == 0);
        let stride = |axis: usize| if axis == row { AxisStride::Elements(1) } else { AxisStride::Elements(8192) };
        let axes = tile.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size, stride(axis))).collect();
        let memory = GlobalTensor::new(axes, 16);
        let threads = CopyThreadCounts { lanes: 32, warps: 1 << theirs.in_bits(Dim::WARP) };
        let ours = coalesce_layout(&memory, 16, threads, None, target.description()).unwrap();
        let taken = plan_global_access(&theirs, &memory, 16, Direction::Load, target.description()).unwrap();
        assert!(ours.vector_elements >= taken.vector_elements && ours.vector_elements == 8, "{name}");
        assert!(ours.accesses <= taken.accesses && ours.transactions <= taken.transactions, "{name}");
        // Every element occurs exactly once.
        assert!(ours.layout.is_invertible(), "{name}: {:?}", ours.layout);
    }
}

/// Returns the register layout of a 128 x 128 int4 operand over four warps along M, in 16x16 tiles as for f16 in
/// `mma.sync.aligned.m16n8k16`.
fn int4_operand() -> LinearLayout {
    // In the order of registers: two along K, eight rows further, eight columns further; then sixteen along K each,
    // then 64 rows further.
    distributed("((4,8,4),(2,2,2,8,2)):((256,1,16),(128,8,1024,2048,64))", &[128, 128])
}

/// Checks the Hexcute paper, section 7.3: `ldmatrix` loads an int4 tile of 128x128 in the layout of the f16 operand.
#[test]
fn int4_weights_load_as_operands_by_ldmatrix() {
    let target = target("a100");
    let context = build_plan_context(&target);
    let tensor = SharedTensor::new(&[128, 128], 4);
    let matrix = TensorAccess::load("weights", int4_operand(), &context)
        .with_retained_alternatives(|kind| kind.instruction().is_some());
    let found = solve_shared_layout(&tensor, std::slice::from_ref(&matrix), &context).unwrap();
    assert!(by(&found, "weights").starts_with("ldmatrix.sync.aligned.m8n8.x4"), "{found}");
    assert_eq!(found.conflict_wavefronts(), 0, "{found}");
    // 8 KiB in 16-byte rows of eight: each wavefront loads 128 bytes, each warp a quarter of the rows.
    assert_eq!((found.served[0].wavefronts, found.served[0].issued), (16, 4), "{found}");

    // The transposing `ldmatrix` also loads from the seed's own layout.
    let given =
        SharedTensor { layout: Some("((8,2,8),(2,64)):((4,2,2048),(1,32))".parse().unwrap()), ..tensor.clone() };
    let found = solve_shared_layout(&given, std::slice::from_ref(&matrix), &context).unwrap();
    assert!(by(&found, "weights").contains(".x4.trans"), "{found}");
    assert_eq!(found.conflict_wavefronts(), 0, "{found}");

    // Rows of K in order: a lane's registers are not 32 contiguous bits.
    let rows = SharedTensor { layout: Some("(128,128):(128,1)".parse().unwrap()), ..tensor };
    let error = solve_shared_layout(&rows, &[matrix], &context).unwrap_err();
    assert!(matches!(error, MemorySynthesisError::Disagree { .. }), "{error}");
}

fn row(target: &NvidiaTarget, required: impl Fn(&Instruction) -> bool) -> &Instruction {
    target.instructions().iter().find(|row| required(row)).unwrap()
}

/// Checks the layouts for a warpgroup MMA that reads shared memory: they are canonical layouts of the MMA, which lane
/// copies also write.
#[test]
fn layouts_that_the_hardware_fixes_are_enumerated() {
    let target = target("h100");
    let context = build_plan_context(&target);
    let mma = row(&target, |row| row.name.contains("m64n128k16") && row.name.contains("f32.f16.f16"));
    let b = TensorAccess::matrix_unit_read("product", mma, "b").unwrap();
    // K x N, contiguous along K: 16-byte pieces of columns.
    let copy = distributed("((8,16),(8,8)):((8,64),(1,1024))", &[64, 128]);
    let found = solve_shared_layout(
        &SharedTensor::new(&[64, 128], 16),
        &[b, TensorAccess::global_to_shared_copy("copy", copy, &context)],
        &context,
    )
    .unwrap();
    assert!(found.fixed_layout.is_some() && found.term.is_none());
    assert_eq!(found.served[1].bytes, 16, "{found}");
    assert_eq!((found.conflict_wavefronts(), found.swizzles.len()), (0, 1), "{found}");
}
