//! Tiles copied by boxes: which layouts of shared memory they fill, how many there are, that they bring every element there
//! and back, what is found where something is left out, and the pipeline as PTX.

use crate::layouts::nvmma_shared;
use crate::prelude::*;
use tilewright_layout::Padding;
use tilewright_plan::movement::{AxisStride, SharedCopy, TensorCopy, copy_from_shared};
use tilewright_vendor_testkit::layouts::memory;
use tilewright_verify::kernels::{OmittedSync, tensor_copy_kernel};
use tilewright_verify::{CheckFailure, box_tiles_case};

const LAUNCH: Launch = Launch::new(32, 4);
const STAGES: Stages = Stages { buffers: 3, tensors: 5, omitted: None };

/// Triton's layout of a tile that bulk copies write.
fn swizzled(width: u64, bits: u32, transposed: bool, shape: &[u64]) -> MemoryLayout {
    memory(&target("h100"), &nvmma_shared(width, transposed, bits), shape)
}

fn problem<'a>(global: &'a GlobalTensor, memory: &'a MemoryLayout, bits: u32) -> AsyncCopySpec<'a> {
    AsyncCopySpec { global, memory, element_bits: bits, lanes: 32, warps: 4, masked: false, mapped: true }
}

fn planned(memory: &MemoryLayout, bits: u32, shape: &[u64]) -> SharedCopy {
    let target = target("h100");
    copy_to_shared(&problem(&GlobalTensor::row_major(shape, 256), memory, bits), context(&target)).unwrap()
}

fn back(memory: &MemoryLayout, bits: u32, shape: &[u64]) -> Result<TensorCopy, MovementError> {
    let target = target("h100");
    copy_from_shared(&problem(&GlobalTensor::row_major(shape, 256), memory, bits), context(&target))
}

/// A layout, the width of an element, a shape, the box that fills it and how many there are.
type Tile = (MemoryLayout, u32, Vec<u64>, Vec<u32>, usize);

/// Boxes as Triton's `getTMABlockShape` has them: no wider than the swizzle, 256 elements at most.
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
fn swizzled_tiles_are_copied_by_boxes_there_and_back() {
    let target = target("h100");
    for (memory, bits, shape, sizes, count) in tiles() {
        let copy = planned(&memory, bits, &shape);
        let boxes = copy.boxes().unwrap_or_else(|| panic!("{bits} {shape:?}: {:?}", copy.rejected));
        assert_eq!((&boxes.map.box_sizes, boxes.boxes()), (&sizes, count), "{bits} {shape:?}");
        let bytes = shape.iter().product::<u64>() * u64::from(bits / 8);
        assert_eq!((boxes.counts.bulk_copies, boxes.bytes()), (count as u64, bytes));
        assert_eq!((boxes.counts.mbarrier_arrivals, copy.transactions), (1, bytes / 32));
        let from = back(&memory, bits, &shape).unwrap();
        assert_eq!((&from.map, from.boxes()), (&boxes.map, count));
        assert_eq!(from.counts.mbarrier_arrivals, 0);
        for copy in [boxes, &from] {
            for shifted in [0, 5] {
                let case = box_tiles_case(copy, &memory, LAUNCH, STAGES, shifted, context(&target));
                proven_case(case, context(&target), format!("{bits} {shape:?} by {shifted}"));
            }
        }
    }
}

/// The published layouts of the family, of three axes too, whatever their order in memory.
#[test]
fn other_axes_may_lie_in_any_order() {
    let target = target("h100");
    let offsets = |parts: &[(u64, usize)]| {
        let all =
            parts.iter().map(|&(size, axis)| LinearLayout::identity(size, Dim::OFFSET, Dim::tensor(axis)).unwrap());
        let sum = all.reduce(|sum, part| sum.direct_sum(&part).unwrap()).unwrap();
        let rank = parts.iter().map(|part| part.1).max().unwrap() + 1;
        MemoryLayout::linear(sum.transpose_outs(&(0..rank).map(Dim::tensor).collect::<Vec<_>>()).unwrap())
    };
    for (parts, shape, sizes, count) in [
        (vec![(16, 2), (8, 0), (4, 1)], [8, 4, 16], [16, 8, 4], 1),
        (vec![(16, 2), (8, 1), (4, 0)], [4, 8, 16], [16, 8, 4], 1),
        // Half of an axis lies before another, half behind it: others copy fewer units of memory to there.
        (vec![(8, 2), (8, 1), (2, 2), (4, 0)], [4, 8, 16], [8, 8, 1], 8),
    ] {
        let memory = offsets(&parts);
        let copy = planned(&memory, 16, &shape);
        let from = back(&memory, 16, &shape).unwrap();
        assert_eq!((from.map.box_sizes.as_slice(), from.boxes()), (sizes.as_slice(), count));
        assert_eq!(copy.boxes().map(|boxes| &boxes.map), (count == 1).then_some(&from.map), "{:?}", copy.rejected);
        for copy in copy.boxes().into_iter().chain([&from]) {
            for shifted in [0, 3] {
                let case = box_tiles_case(copy, &memory, LAUNCH, STAGES, shifted, context(&target));
                proven_case(case, context(&target), format!("{parts:?} by {shifted}"));
            }
        }
    }
}

#[test]
fn what_boxes_do_not_fill_is_told_why() {
    let reason = |memory: &MemoryLayout, shape: &[u64]| match back(memory, 16, shape) {
        Err(MovementError::Impossible { reasons }) => reasons,
        other => panic!("{other:?}"),
    };
    let plain = swizzled(0, 16, false, &[64, 64]);
    let padded = MemoryLayout { padding: vec![Padding { interval: 64, padding: 8 }], ..plain.clone() };
    assert!(reason(&padded, &[64, 64]).contains("padding parts the boxes"));
    let turned = swizzled(128, 16, true, &[64, 64]);
    assert!(
        reason(&turned, &[64, 64]).contains("0 bytes of a row follow each other"),
        "{}",
        reason(&turned, &[64, 64])
    );
    let narrow = reason(&swizzled(0, 16, false, &[64, 4]), &[64, 4]);
    assert!(narrow.contains("a stride is a multiple of 8 bytes, not of 16"), "{narrow}");
    let target = target("h100");
    let rows = GlobalTensor::row_major(&[64, 64], 256);
    let unmapped = AsyncCopySpec { mapped: false, ..problem(&rows, &plain, 16) };
    let copy = copy_to_shared(&unmapped, context(&target)).unwrap();
    assert_eq!(copy.instruction(), Some("cp.async.cg.shared.global.16"));
    assert!(copy.rejected.iter().any(|rejected| rejected.reason == "the kernel is given no map of the tensor"));
    // Strides that are known at run time only.
    let global = |grain| GlobalTensor {
        axes: vec![(Dim::tensor(0), 64, AxisStride::MultipleOf(grain)), (Dim::tensor(1), 64, AxisStride::Elements(1))],
        alignment: 16,
    };
    let by = |grain| copy_from_shared(&problem(&global(grain), &plain, 16), context(&target));
    assert_eq!(by(8).unwrap().boxes(), 1);
    assert!(by(4).is_err());
}

#[test]
fn what_is_left_out_is_found() {
    let target = target("h100");
    let (memory, shape) = (swizzled(128, 16, false, &[32, 64]), [32, 64]);
    let (to, from) = (planned(&memory, 16, &shape).boxes().unwrap().clone(), back(&memory, 16, &shape).unwrap());
    let fault = |copy: &TensorCopy, omitted| {
        let stages = Stages { omitted: Some(omitted), ..STAGES };
        match box_tiles_case(copy, &memory, LAUNCH, stages, 0, context(&target))
            .and_then(|case| check_emulated(&case, context(&target)))
        {
            Err(CheckFailure::Fault(fault)) => fault.kind,
            other => panic!("{omitted:?}: {other:?}"),
        }
    };
    use FaultKind::{InFlight, Race, Unfenced};
    assert!(matches!(fault(&to, OmittedSync::Wait), InFlight { .. }));
    let overrun = fault(&to, OmittedSync::Barrier);
    // The others find that the phase they wait for has gone by.
    assert!(matches!(overrun, InFlight { .. } | Race { .. } | FaultKind::NeverCompletes { .. }), "{overrun}");
    assert!(matches!(fault(&to, OmittedSync::Fence), Unfenced { .. }));
    assert!(matches!(fault(&from, OmittedSync::Wait), InFlight { .. }));
    assert!(matches!(fault(&from, OmittedSync::Barrier), Race { .. } | FaultKind::Uninitialised { .. }));
    assert!(matches!(fault(&from, OmittedSync::Fence), Unfenced { .. }));
}

fn ptx(kernel: Kernel) -> String {
    let options = CompileOptions { emit: vec![Emit::Assembly, Emit::Object], ..CompileOptions::default() };
    let artifact = target("h100").compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    assert!(artifact.taken_by.is_some() || object::assembler().is_err(), "there is an assembler that was not asked");
    artifact.text(Emit::Assembly).unwrap().to_owned()
}

#[test]
fn a_pipeline_has_full_barriers_and_bulk_copies() {
    let (memory, shape) = (swizzled(128, 16, false, &[64, 128]), [64, 128]);
    let copy = planned(&memory, 16, &shape);
    let to = ptx(tensor_copy_kernel(copy.boxes().unwrap(), &memory, LAUNCH, STAGES).unwrap());
    let count = |ptx: &str, what: &str| ptx.matches(what).count();
    assert_eq!(count(&to, "mbarrier.init.shared::cta.b64"), 3, "one for each buffer\n{to}");
    // Two tiles before the loop and one in it, of two boxes each.
    assert!(count(&to, "cp.async.bulk.tensor.2d.shared::cluster.global") >= 6, "{to}");
    assert!(count(&to, "mbarrier.arrive.expect_tx.shared::cta.b64") >= 3 && to.contains(", 16384;"), "{to}");
    assert!(count(&to, "mbarrier.try_wait.parity") >= 3, "{to}");
    let from = back(&memory, 16, &shape).unwrap();
    let from = ptx(tensor_copy_kernel(&from, &memory, LAUNCH, STAGES).unwrap());
    assert!(count(&from, "cp.async.bulk.tensor.2d.global.shared::cta") >= 2, "{from}");
    assert!(from.contains("cp.async.bulk.wait_group 2") && from.contains("cp.async.bulk.wait_group 0"), "{from}");
    assert!(count(&from, "cp.async.bulk.commit_group") >= 1 && !from.contains("mbarrier"), "{from}");
}
