//! Synthesis of shared memory with NVIDIA's own rows: the choices of a public solver are met or beaten, arrangements that
//! the hardware fixes are found, elements of four bits are packed so that matrix loads bring them as factors.

use crate::prelude::*;
use serde_json::Value;
use tilewright_assign::synthesis::coalesce::{Threads, coalesced};
use tilewright_layout::cute::{ComposedLayout, Swizzle, to_distributed, to_memory};
use tilewright_plan::memory_synthesis::{MemorySynthesisError, SharedTensor, Solution, TensorAccess, solve};
use tilewright_plan::movement::{AxisStride, access_global};

fn distributed(layout: &str, shape: &[u64]) -> LinearLayout {
    to_distributed(&layout.parse().unwrap(), shape, 32).unwrap()
}

/// A layout of a part of a tensor with the rest along dim1 in registers.
fn repeated(layout: &LinearLayout, size: u64) -> LinearLayout {
    let dim1 = Dim::tensor(1);
    let more = size >> layout.out_bits(dim1);
    let rest = LinearLayout::identity(more, Dim::REGISTER, dim1).unwrap();
    layout.direct_sum(&rest).unwrap()
}

fn by<'s>(solution: &'s Solution, access: &str) -> &'s str {
    solution
        .served
        .iter()
        .find(|one| one.access == access)
        .and_then(|one| one.instruction.as_deref())
        .unwrap_or("plain")
}

/// The fewest wavefronts of both accesses in the solver's layout under any one swizzle functor, by any accesses.
fn theirs(layout: &str, shape: &[u64], load: &LinearLayout, copy: &LinearLayout, context: PlanContext<'_>) -> u64 {
    let layout = layout.parse::<tilewright_layout::cute::CuteLayout>().unwrap();
    let bits = shape.iter().product::<u64>().ilog2();
    let taken = |memory: &MemoryLayout| {
        let loaded = access_shared(load, memory, 16, Direction::Load, context).unwrap().stats.counts.wavefronts_loaded;
        loaded
            + access_shared(copy, memory, 16, Direction::Store, context.with_instructions(&[]))
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

/// Nine programs, of which seven have two tensors each in shared memory.
#[test]
fn choices_of_a_public_solver_are_met_or_beaten() {
    let known: Value = serde_json::from_str(include_str!("../data/solver_choices.json")).unwrap();
    let target = target("a100");
    let context = context(&target);
    let cases = known["shared"].as_array().unwrap();
    assert_eq!(cases.len(), 14);
    for case in cases {
        let name = format!("{} {}", case["program"], case["tensor"]);
        let text = |key: &str| case[key].as_str().unwrap();
        let sizes = |key: &str| case[key].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect::<Vec<_>>();
        let shape = sizes("shape");
        let load = repeated(&distributed(text("load"), &sizes("load_tile")), shape[1]);
        let copy = distributed(text("copy"), &shape);
        let accesses =
            [TensorAccess::copy("copy", copy.clone(), &context), TensorAccess::load("load", load.clone(), &context)];
        let found = solve(&SharedTensor::new(&shape, 16), &accesses, &context).unwrap();
        assert!(found.served[0].bytes >= case["copy_bytes"].as_u64().unwrap(), "{name}: {found}");
        assert!(found.served[1].bytes >= case["load_bytes"].as_u64().unwrap(), "{name}: {found}");
        assert!(
            by(&found, "copy").starts_with("cp.async") && by(&found, "load").starts_with(text("load_by")),
            "{name}"
        );
        let ours: u64 = found.served.iter().map(|one| one.wavefronts).sum();
        let theirs = theirs(text("layout"), &shape, &load, &copy, context);
        assert!(ours <= theirs, "{name}: {ours} wavefronts, and {theirs} in {}\n{found}", text("layout"));
        assert_eq!(found.conflicts(), 0, "{name}: {found}");
    }
}

/// All nine programs, among them two products with a vector, copy a tile between global memory and registers: as wide as
/// theirs, by no more accesses, and no more units of memory are touched.
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
        // The first values of a lane are what follows in memory; rows of it are a multiple of 16 bytes apart.
        let row = usize::from(theirs.outs().coordinate(theirs.columns_of(Dim::REGISTER)[0], Dim::tensor(0)) == 0);
        let stride = |axis: usize| if axis == row { AxisStride::Elements(1) } else { AxisStride::Elements(8192) };
        let axes = tile.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size, stride(axis))).collect();
        let memory = GlobalTensor { axes, alignment: 16 };
        let threads = Threads { lanes: 32, warps: 1 << theirs.in_bits(Dim::WARP) };
        let ours = coalesced(&memory, 16, threads, None, target.description()).unwrap();
        let taken = access_global(&theirs, &memory, 16, Direction::Load, target.description()).unwrap();
        assert!(ours.vector_elements >= taken.vector_elements && ours.vector_elements == 8, "{name}");
        assert!(ours.accesses <= taken.accesses && ours.transactions <= taken.transactions, "{name}");
        // Every element, and each once.
        assert!(ours.layout.is_invertible(), "{name}: {:?}", ours.layout);
    }
}

/// Warps of 16x16 int4 factors, as `mma.sync.aligned.m16n8k16` holds f16 ones: 128 x 128 by four warps along M.
fn int4_factor() -> LinearLayout {
    // Registers: two along K, eight rows on, eight columns on; then sixteen along K each, then 64 rows on.
    distributed("((4,8,4),(2,2,2,8,2)):((256,1,16),(128,8,1024,2048,64))", &[128, 128])
}

/// Seed 003, section 7.3: an int4 tile of 128x128 loads with `ldmatrix` as the f16 factor will be held.
#[test]
fn int4_weights_load_as_factors_by_matrix_loads() {
    let target = target("a100");
    let context = context(&target);
    let tensor = SharedTensor::new(&[128, 128], 4);
    let matrix = TensorAccess::load("weights", int4_factor(), &context).only(|way| way.instruction().is_some());
    let found = solve(&tensor, std::slice::from_ref(&matrix), &context).unwrap();
    assert!(by(&found, "weights").starts_with("ldmatrix.sync.aligned.m8n8.x4"), "{found}");
    assert_eq!(found.conflicts(), 0, "{found}");
    // 8 KiB in 16-byte rows of eight: each wavefront brings 128 bytes, each warp a quarter of the rows.
    assert_eq!((found.served[0].wavefronts, found.served[0].issued), (16, 4), "{found}");

    // The seed's own layout is one that the transposing row loads from.
    let given =
        SharedTensor { layout: Some("((8,2,8),(2,64)):((4,2,2048),(1,32))".parse().unwrap()), ..tensor.clone() };
    let found = solve(&given, std::slice::from_ref(&matrix), &context).unwrap();
    assert!(by(&found, "weights").contains(".x4.trans"), "{found}");
    assert_eq!(found.conflicts(), 0, "{found}");

    // Rows of K as they are: a lane's registers are not 32 bits of them.
    let rows = SharedTensor { layout: Some("(128,128):(128,1)".parse().unwrap()), ..tensor };
    let error = solve(&rows, &[matrix], &context).unwrap_err();
    assert!(matches!(error, MemorySynthesisError::Disagree { .. }), "{error}");
}

fn row(target: &NvidiaTarget, required: impl Fn(&Instruction) -> bool) -> &Instruction {
    target.instructions().iter().find(|row| required(row)).unwrap()
}

/// Where a warp group multiplies from shared memory, the layout is one of its arrangements: copies by lanes go there too.
#[test]
fn arrangements_that_the_hardware_fixes_are_enumerated() {
    let target = target("h100");
    let context = context(&target);
    let product = row(&target, |row| row.name.contains("m64n128k16") && row.name.contains("f32.f16.f16"));
    let b = TensorAccess::operand("product", product, "b").unwrap();
    // K x N with K together: 16-byte pieces of columns.
    let copy = distributed("((8,16),(8,8)):((8,64),(1,1024))", &[64, 128]);
    let found =
        solve(&SharedTensor::new(&[64, 128], 16), &[b, TensorAccess::copy("copy", copy, &context)], &context).unwrap();
    assert!(found.arrangement.is_some() && found.term.is_none());
    assert_eq!(found.served[1].bytes, 16, "{found}");
    assert_eq!((found.conflicts(), found.swizzles.len()), (0, 1), "{found}");
}
