//! Bulk copies of tensor boxes and contiguous spans: elements outside of the tensor, swizzled boxes, completion, and
//! synchronization errors.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;

use tilewright_emulator::{FaultKind, RunReport};
use tilewright_kernel::{OutOfBoundsFill, Queue, TensorMap};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{
    Completion, Instruction, InstructionKind, InstructionOperand, Semantics, TargetDescription, TensorCopyLayout,
    TensorCopyOperand, XorSwizzle,
};
use tilewright_verify::kernels::BulkCopyFlaw;
use tilewright_verify::{CheckFailure, build_box_copy_case, build_bulk_copy_1d_case, check_emulated, edge_box_origins};

fn target() -> TargetDescription {
    let mut target = emulator_target::target(true);
    target.shared.asynchronous_proxy = true;
    target.shared.bytes = 1 << 16;
    target
}

fn row(name: &str, operands: Vec<InstructionOperand>, completion: Completion) -> Instruction {
    Instruction {
        name: name.to_owned(),
        kind: InstructionKind::AsyncCopy,
        operands,
        cycles: None,
        semantics: Semantics::Move,
        completion,
        numerics: None,
        source: "made up".to_owned(),
    }
}

/// The swizzle that exchanges the 16-byte halves of each 32-byte row in every second 64 bytes.
const SWIZZLE: XorSwizzle = XorSwizzle { shift: 2, mask: 0x10 };

fn operand(rank: u32) -> TensorCopyOperand {
    let box_layout = |name: &str, swizzle, row_bytes, alignment| TensorCopyLayout {
        name: name.to_owned(),
        mode: alignment,
        swizzle,
        row_bytes,
        alignment,
    };
    TensorCopyOperand {
        elements: Vec::new(),
        rank,
        most: 16,
        row_granularity: 16,
        global_alignment: 16,
        layouts: vec![
            box_layout("plain", XorSwizzle::default(), None, 32),
            box_layout("mixed", SWIZZLE, Some(32), 128),
        ],
    }
}

fn tensor_copies(rank: u32) -> [Instruction; 2] {
    let coordinates = || (0..rank).map(|_| InstructionOperand::Coordinate);
    let start = || [InstructionOperand::Box(operand(rank)), InstructionOperand::TensorMap].into_iter();
    let to = start().chain(coordinates()).chain([InstructionOperand::Mbarrier]).collect();
    let from = [InstructionOperand::TensorMap]
        .into_iter()
        .chain(coordinates())
        .chain([InstructionOperand::Box(operand(rank))])
        .collect();
    [row("fetch", to, Completion::Mbarrier), row("put", from, Completion::Queue(Queue::Bulk))]
}

fn bulk_copies_1d() -> [Instruction; 2] {
    let (shared, global) =
        (InstructionOperand::SharedBulk { alignment: 16 }, InstructionOperand::GlobalBulk { alignment: 16 });
    let bytes = InstructionOperand::BulkBytes { granularity: 16 };
    let to = vec![shared.clone(), global.clone(), bytes.clone(), InstructionOperand::Mbarrier];
    let from = vec![global, shared, bytes];
    [row("fetch_span", to, Completion::Mbarrier), row("put_span", from, Completion::Queue(Queue::Bulk))]
}

fn map(bits: u32, sizes: &[u32], swizzle: XorSwizzle) -> TensorMap {
    TensorMap { element_bits: bits, element: None, box_sizes: sizes.to_vec(), swizzle, outside: OutOfBoundsFill::Zeros }
}

fn maps() -> Vec<TensorMap> {
    let plain = XorSwizzle::default();
    vec![
        map(8, &[16], plain),
        map(64, &[6], plain),
        map(16, &[8, 3], plain),
        map(16, &[16, 8], SWIZZLE),
        map(8, &[16, 3, 5], plain),
        map(32, &[8, 2, 2, 2], SWIZZLE),
        map(64, &[4, 2, 1, 3, 2], SWIZZLE),
    ]
}

/// Copies a box on the emulator, and checks it; a NaN of the emulator stands for elements outside of the tensor.
fn copied(
    row: &Instruction,
    map: &TensorMap,
    origin: &[i32],
    flaw: Option<BulkCopyFlaw>,
) -> Result<RunReport, CheckFailure> {
    let target = target();
    let case = build_box_copy_case(row, map, origin, target.lanes.default, flaw)?.with_exact_bits();
    check_emulated(&case, PlanContext::new(&target).with_instructions(std::slice::from_ref(row)))
}

fn bulk_copy_1d_result(row: &Instruction, bytes: u32, flaw: Option<BulkCopyFlaw>) -> Result<RunReport, CheckFailure> {
    let target = target();
    let case = build_bulk_copy_1d_case(row, bytes, target.lanes.default, flaw)?;
    check_emulated(&case, PlanContext::new(&target).with_instructions(std::slice::from_ref(row)))
}

#[test]
fn tensor_copies_start_at_any_coordinate() {
    for map in maps() {
        let rank = map.rank();
        // Along each axis alone, and along all.
        let mut origins: Vec<Vec<i32>> = Vec::new();
        for which in 0..4 {
            let at: Vec<i32> = map.box_sizes.iter().map(|&size| edge_box_origins(size)[which]).collect();
            origins.push(at.clone());
            origins.extend((0..rank).map(|axis| (0..rank).map(|own| if own == axis { at[own] } else { 0 }).collect()));
        }
        for outside in [OutOfBoundsFill::Zeros, OutOfBoundsFill::NotANumber] {
            let map = TensorMap { outside, ..map.clone() };
            for (row, origin) in
                tensor_copies(rank as u32).iter().flat_map(|row| origins.iter().map(move |at| (row, at)))
            {
                let report = copied(row, &map, origin, None);
                let report = report.unwrap_or_else(|wrong| panic!("{} {map:?} at {origin:?}: {wrong}", row.name));
                let counts = report.counts;
                assert_eq!((counts.bulk_copies, counts.bulk_bytes), (1, map.box_bytes()));
                assert_eq!(counts.mbarrier_arrivals, u64::from(row.name == "fetch"));
            }
        }
    }
}

#[test]
fn bulk_copies_1d_load_to_shared() {
    for row in bulk_copies_1d() {
        for bytes in [16, 48, 4096] {
            bulk_copy_1d_result(&row, bytes, None).unwrap();
        }
    }
}

/// Returns the fault that ended the emulator's run.
fn fault(result: Result<RunReport, CheckFailure>) -> FaultKind {
    match result {
        Err(CheckFailure::Fault(fault)) => fault.kind,
        other => panic!("a fault was expected: {other:?}"),
    }
}

#[test]
fn what_is_left_out_is_found() {
    for row in tensor_copies(2).iter().chain(&bulk_copies_1d()) {
        let map = map(16, &[16, 8], SWIZZLE);
        for flaw in BulkCopyFlaw::ALL.into_iter().filter(|flaw| flaw.applies_to(row.completion)) {
            let found = fault(match row.name.ends_with("span") {
                true => bulk_copy_1d_result(row, 256, Some(flaw)),
                false => copied(row, &map, &[0, 0], Some(flaw)),
            });
            let to_shared = row.completion == Completion::Mbarrier;
            let right = match flaw {
                BulkCopyFlaw::NoWait if to_shared => matches!(found, FaultKind::InFlight { .. }),
                BulkCopyFlaw::NoWait => matches!(found, FaultKind::Unfinished { .. }),
                BulkCopyFlaw::NothingExpected => {
                    matches!(found, FaultKind::NeverCompletes { .. } | FaultKind::InFlight { .. })
                }
                BulkCopyFlaw::OtherPhase => matches!(found, FaultKind::InFlight { .. }),
                BulkCopyFlaw::NoFence => matches!(found, FaultKind::Unfenced { .. }),
            };
            assert!(right, "{} with {flaw:?}: {found}", row.name);
        }
    }
}

#[test]
fn what_no_row_copies_is_refused_before_it_runs() {
    let refusal = |map: TensorMap| match copied(&tensor_copies(2)[0], &map, &[0, 0], None) {
        Err(CheckFailure::Row(message)) => message,
        other => panic!("{map:?}: {other:?}"),
    };
    let plain = XorSwizzle::default();
    assert!(refusal(map(16, &[24, 8], plain)).contains("24 elements along an axis; it copies 16 at most"));
    assert!(refusal(map(16, &[4, 8], plain)).contains("rows of a box have 8 bytes; it copies multiples of 16"));
    assert!(refusal(map(16, &[8, 8], SWIZZLE)).contains("rows of a box have 16 bytes; with mixed they have 32"));
    assert!(refusal(map(16, &[8, 8], XorSwizzle { shift: 3, mask: 0x10 })).contains("there are: plain, mixed"));
    let three = copied(&tensor_copies(3)[0], &map(16, &[8, 8], plain), &[0, 0], None);
    assert!(matches!(three, Err(CheckFailure::Row(message)) if message.contains("boxes of 3 axes; the map's have 2")));
}
