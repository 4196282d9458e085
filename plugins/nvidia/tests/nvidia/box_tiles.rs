//! Bulk tensor copies of tiles: the memory layouts that boxes fill, their number, correctness in both directions,
//! faults for missing synchronization, and the pipeline as PTX.

use crate::layouts::nvmma_shared;
use crate::prelude::*;
use tilewright_layout::Padding;
use tilewright_plan::movement::{AsyncCopyPlan, AxisStride, TensorCopy, plan_tensor_copy_to_global};
use tilewright_vendor_testkit::layouts::resolve_memory;
use tilewright_verify::kernels::{OmittedSync, build_tensor_copy_kernel};
use tilewright_verify::{CheckFailure, build_tensor_copy_case};

const LAUNCH: StaticLaunchConfig = StaticLaunchConfig::new(32, 4);
const STAGES: CopyPipelineConfig = CopyPipelineConfig { buffers: 3, tensors: 5, omitted: None };

/// Returns Triton's layout of a tile that bulk tensor copies write.
fn swizzled(width: u64, bits: u32, transposed: bool, shape: &[u64]) -> MemoryLayout {
    resolve_memory(&target("h100"), &nvmma_shared(width, transposed, bits), shape)
}

fn problem<'a>(global: &'a GlobalTensor, memory: &'a MemoryLayout, bits: u32) -> AsyncCopySpec<'a> {
    AsyncCopySpec::new(global, memory, bits, 32, 4).with_tensor_map(true)
}

fn planned(memory: &MemoryLayout, bits: u32, shape: &[u64]) -> AsyncCopyPlan {
    let target = target("h100");
    plan_async_copy(&problem(&GlobalTensor::row_major(shape, 256), memory, bits), build_plan_context(&target)).unwrap()
}

fn back(memory: &MemoryLayout, bits: u32, shape: &[u64]) -> Result<TensorCopy, MovementError> {
    let target = target("h100");
    plan_tensor_copy_to_global(
        &problem(&GlobalTensor::row_major(shape, 256), memory, bits),
        build_plan_context(&target),
    )
}

/// A tile: its layout in shared memory, the width of an element in bits, its shape, the expected box, and the expected
/// number of boxes.
type Tile = (MemoryLayout, u32, Vec<u64>, Vec<u32>, usize);

/// Returns tiles with the boxes that Triton's `getTMABlockShape` chooses: no wider than the swizzle, at most 256
/// elements along an axis.
fn tiles() -> Vec<Tile> {
    let mut tiles = Vec::new();
    for (width, bits, shape, sizes, count) in [
        (128, 16, [64, 64], [64, 64], 1),
        (128, 16, [64, 256], [64, 64], 4),
        (128, 8, [128, 128], [128, 128], 1),
        (128, 32, [32, 64], [32, 32], 2),
        (128, 64, [16, 32], [16, 16], 2),
        (64, 16, [64, 64], [32, 64], 2),
        (32, 16, [16, 64], [16, 16], 4),
        (32, 8, [64, 32], [32, 64], 1),
        (0, 16, [32, 64], [64, 32], 1),
        (0, 32, [16, 256], [256, 16], 1),
    ] {
        let memory = swizzled(width, bits, false, &shape);
        tiles.push((memory, bits, shape.to_vec(), sizes.to_vec(), count));
    }
    tiles
}

#[test]
fn tensor_copies_load_and_store_swizzled_tiles() {
    let target = target("h100");
    for (memory, bits, shape, sizes, count) in tiles() {
        let copy = planned(&memory, bits, &shape);
        let tensor_copy = copy.tensor_copy().unwrap_or_else(|| panic!("{bits} {shape:?}: {:?}", copy.rejected));
        assert_eq!((&tensor_copy.map.box_sizes, tensor_copy.box_count()), (&sizes, count), "{bits} {shape:?}");
        let bytes = shape.iter().product::<u64>() * u64::from(bits / 8);
        assert_eq!((tensor_copy.counts.bulk_copies, tensor_copy.total_box_bytes()), (count as u64, bytes));
        assert_eq!((tensor_copy.counts.mbarrier_arrivals, copy.transactions), (1, bytes / 32));
        let from = back(&memory, bits, &shape).unwrap();
        assert_eq!((&from.map, from.box_count()), (&tensor_copy.map, count));
        assert_eq!(from.counts.mbarrier_arrivals, 0);
        for copy in [tensor_copy, &from] {
            for shifted in [0, 5] {
                let case = build_tensor_copy_case(copy, &memory, LAUNCH, STAGES, shifted, build_plan_context(&target));
                check_case(case, build_plan_context(&target), format!("{bits} {shape:?} by {shifted}"));
            }
        }
    }
}

/// Checks layouts of three-axis tiles whose axes are in any order in shared memory.
#[test]
fn other_axes_may_lie_in_any_order() {
    let target = target("h100");
    let offsets = |modes: &[(u64, usize)]| {
        let all =
            modes.iter().map(|&(size, axis)| LinearLayout::identity(size, Dim::OFFSET, Dim::tensor(axis)).unwrap());
        let sum = all.reduce(|sum, mode| sum.direct_sum(&mode).unwrap()).unwrap();
        let rank = modes.iter().map(|mode| mode.1).max().unwrap() + 1;
        MemoryLayout::from_linear(sum.transpose_outs(&(0..rank).map(Dim::tensor).collect::<Vec<_>>()).unwrap())
    };
    for (modes, shape, sizes, count) in [
        (vec![(16, 2), (8, 0), (4, 1)], [8, 4, 16], [16, 8, 4], 1),
        (vec![(16, 2), (8, 1), (4, 0)], [4, 8, 16], [16, 8, 4], 1),
        // Half of an axis is before another axis and half after it, so that other copies to this layout touch fewer
        // sectors.
        (vec![(8, 2), (8, 1), (2, 2), (4, 0)], [4, 8, 16], [8, 8, 1], 8),
    ] {
        let memory = offsets(&modes);
        let copy = planned(&memory, 16, &shape);
        let from = back(&memory, 16, &shape).unwrap();
        assert_eq!((from.map.box_sizes.as_slice(), from.box_count()), (sizes.as_slice(), count));
        assert_eq!(
            copy.tensor_copy().map(|tensor_copy| &tensor_copy.map),
            (count == 1).then_some(&from.map),
            "{:?}",
            copy.rejected
        );
        for copy in copy.tensor_copy().into_iter().chain([&from]) {
            for shifted in [0, 3] {
                let case = build_tensor_copy_case(copy, &memory, LAUNCH, STAGES, shifted, build_plan_context(&target));
                check_case(case, build_plan_context(&target), format!("{modes:?} by {shifted}"));
            }
        }
    }
}

#[test]
fn unsupported_tensor_copies_have_a_reason() {
    let reason = |memory: &MemoryLayout, shape: &[u64]| match back(memory, 16, shape) {
        Err(MovementError::Impossible { reasons }) => reasons,
        other => panic!("{other:?}"),
    };
    let plain = swizzled(0, 16, false, &[64, 64]);
    let padded = MemoryLayout { padding: vec![Padding { interval: 64, padding: 8 }], ..plain.clone() };
    assert!(reason(&padded, &[64, 64]).contains("padding splits the boxes"));
    let turned = swizzled(128, 16, true, &[64, 64]);
    assert!(reason(&turned, &[64, 64]).contains("0 bytes of a row are contiguous"), "{}", reason(&turned, &[64, 64]));
    let narrow = reason(&swizzled(0, 16, false, &[64, 4]), &[64, 4]);
    assert!(narrow.contains("a stride is a multiple of 8 bytes, not of 16"), "{narrow}");
    let target = target("h100");
    let rows = GlobalTensor::row_major(&[64, 64], 256);
    let unmapped = problem(&rows, &plain, 16).with_tensor_map(false);
    let copy = plan_async_copy(&unmapped, build_plan_context(&target)).unwrap();
    assert_eq!(copy.instruction(), Some("cp.async.cg.shared.global.16"));
    assert!(copy.rejected.iter().any(|rejected| rejected.reason == "the kernel has no tensor map"));
    // Strides that are known at run time only.
    let global = |divisibility| {
        let rows = (Dim::tensor(0), 64, AxisStride::MultipleOf(divisibility));
        GlobalTensor::new(vec![rows, (Dim::tensor(1), 64, AxisStride::Elements(1))], 16)
    };
    let by = |divisibility| {
        plan_tensor_copy_to_global(&problem(&global(divisibility), &plain, 16), build_plan_context(&target))
    };
    assert_eq!(by(8).unwrap().box_count(), 1);
    assert!(by(4).is_err());
}

#[test]
fn what_is_left_out_is_found() {
    let target = target("h100");
    let (memory, shape) = (swizzled(128, 16, false, &[32, 64]), [32, 64]);
    let (to, from) = (planned(&memory, 16, &shape).tensor_copy().unwrap().clone(), back(&memory, 16, &shape).unwrap());
    let fault = |copy: &TensorCopy, omitted| {
        let stages = CopyPipelineConfig { omitted: Some(omitted), ..STAGES };
        match build_tensor_copy_case(copy, &memory, LAUNCH, stages, 0, build_plan_context(&target))
            .and_then(|case| check_emulated(&case, build_plan_context(&target)))
        {
            Err(CheckFailure::Fault(fault)) => fault.kind,
            other => panic!("{omitted:?}: {other:?}"),
        }
    };
    use FaultKind::{InFlight, Race, Unfenced};
    assert!(matches!(fault(&to, OmittedSync::Wait), InFlight { .. }));
    let overrun = fault(&to, OmittedSync::Barrier);
    // The other lanes wait for a phase that has already passed.
    assert!(matches!(overrun, InFlight { .. } | Race { .. } | FaultKind::NeverCompletes { .. }), "{overrun}");
    assert!(matches!(fault(&to, OmittedSync::Fence), Unfenced { .. }));
    assert!(matches!(fault(&from, OmittedSync::Wait), InFlight { .. }));
    assert!(matches!(fault(&from, OmittedSync::Barrier), Race { .. } | FaultKind::Uninitialised { .. }));
    assert!(matches!(fault(&from, OmittedSync::Fence), Unfenced { .. }));
}

fn ptx(kernel: Kernel) -> String {
    let options = CompileOptions { emit: vec![CodeFormat::Assembly, CodeFormat::Object], ..CompileOptions::default() };
    let artifact = target("h100").compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    assert!(
        artifact.accepted_by.is_some() || object::find_assembler().is_err(),
        "there is an assembler that was not asked"
    );
    artifact.payload_text(CodeFormat::Assembly).unwrap().to_owned()
}

#[test]
fn a_pipeline_has_full_barriers_and_bulk_copies() {
    let (memory, shape) = (swizzled(128, 16, false, &[64, 128]), [64, 128]);
    let copy = planned(&memory, 16, &shape);
    let to = ptx(build_tensor_copy_kernel(copy.tensor_copy().unwrap(), &memory, LAUNCH, STAGES).unwrap());
    let count = |ptx: &str, what: &str| ptx.matches(what).count();
    assert_eq!(count(&to, "mbarrier.init.shared::cta.b64"), 3, "one for each buffer\n{to}");
    // Two tiles are copied before the loop and one in it, in two boxes each.
    assert!(count(&to, "cp.async.bulk.tensor.2d.shared::cluster.global") >= 6, "{to}");
    assert!(count(&to, "mbarrier.arrive.expect_tx.shared::cta.b64") >= 3 && to.contains(", 16384;"), "{to}");
    assert!(count(&to, "mbarrier.try_wait.parity") >= 3, "{to}");
    let from = back(&memory, 16, &shape).unwrap();
    let from = ptx(build_tensor_copy_kernel(&from, &memory, LAUNCH, STAGES).unwrap());
    assert!(count(&from, "cp.async.bulk.tensor.2d.global.shared::cta") >= 2, "{from}");
    assert!(from.contains("cp.async.bulk.wait_group 2") && from.contains("cp.async.bulk.wait_group 0"), "{from}");
    assert!(count(&from, "cp.async.bulk.commit_group") >= 1 && !from.contains("mbarrier"), "{from}");
}
