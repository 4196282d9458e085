//! Checks every bulk copy instruction (as `cp.async.bulk`) alone: for every shared-memory layout and element width,
//! across the borders of the tensor, and in faulty kernels that the emulator must reject.

use tilewright_emulator::FaultKind;
use tilewright_target::Instruction;
use tilewright_verify::CheckFailure;
use tilewright_verify::kernels::{BulkCopyExtent, BulkCopyFlaw};

use super::super::bulk::{box_test_cases, check_box_cases, copy_direction, map_of, run_flawed};
use super::super::executed::device_case;
use super::super::law::case_name_part;
use crate::{Case, Context, EvidenceLevel, Verdict};

/// Widths in bits of the elements of tensor maps.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// Returns all cases of bulk copy instructions.
pub(super) fn cases(context: &Context) -> Vec<Case> {
    let rows = context.target().instructions().iter().filter(|row| BulkCopyExtent::is_copied_by(row));
    rows.flat_map(|row| borders(context, row).into_iter().chain(wrong(row))).collect()
}

/// Returns the cases that copy boxes across the tensor's borders, such as
/// `boxes/to-shared/2d/swizzle-of-128-bytes/b16`.
fn borders(context: &Context, row: &Instruction) -> Vec<Case> {
    let Some(operand) = row.tensor_copy_operand() else { return Vec::new() };
    let mut cases = Vec::new();
    for box_layout in &operand.layouts {
        for bits in WIDTHS {
            let map = map_of(operand, box_layout, bits);
            if map.element_bits != bits {
                continue;
            }
            let name =
                format!("boxes/{}/{}d/{}/b{bits}", copy_direction(row), operand.rank, case_name_part(&box_layout.name));
            if context.tested_device().is_some() {
                let (row, map) = (row.clone(), map.clone());
                let name = format!("async/device/{name}");
                cases.push(device_case(name, move |context| box_test_cases(context, &row, &map)));
            }
            let row = row.clone();
            cases.push(Case::new(format!("async/{name}"), move |context| {
                match check_box_cases(&row, &map, context.target().description()) {
                    Ok(()) => Verdict::pass(EvidenceLevel::Emulated),
                    Err(wrong) => Verdict::fail(EvidenceLevel::Emulated, wrong.to_string()),
                }
            }));
        }
    }
    cases
}

/// Returns the cases with a faulty kernel, such as `wrong-boxes/to-shared/2d/no-wait` and
/// `wrong-spans/from-shared/no-fence`.
fn wrong(row: &Instruction) -> Vec<Case> {
    let flaws = BulkCopyFlaw::ALL.into_iter().filter(|flaw| flaw.applies_to(row.completion));
    let what = match row.tensor_copy_operand() {
        Some(operand) => format!("wrong-boxes/{}/{}d", copy_direction(row), operand.rank),
        None => format!("wrong-spans/{}", copy_direction(row)),
    };
    let case = |flaw: BulkCopyFlaw| {
        let row = row.clone();
        Case::new(format!("async/{what}/{}", named(flaw)), move |context| {
            let checked = run_flawed(&row, flaw, context.target().description());
            expect_fault(checked, |kind| is_caused_by(flaw, kind))
        })
    };
    flaws.map(case).collect()
}

fn named(flaw: BulkCopyFlaw) -> &'static str {
    match flaw {
        BulkCopyFlaw::NoWait => "no-wait",
        BulkCopyFlaw::NothingExpected => "nothing-expected",
        BulkCopyFlaw::OtherPhase => "other-phase",
        BulkCopyFlaw::NoFence => "no-fence",
    }
}

/// Whether a fault that the emulator reported is one that the flaw of the kernel causes.
fn is_caused_by(flaw: BulkCopyFlaw, kind: &FaultKind) -> bool {
    match flaw {
        BulkCopyFlaw::NoWait => matches!(kind, FaultKind::InFlight { .. } | FaultKind::Unfinished { .. }),
        BulkCopyFlaw::NothingExpected => matches!(kind, FaultKind::InFlight { .. } | FaultKind::NeverCompletes { .. }),
        BulkCopyFlaw::OtherPhase => matches!(kind, FaultKind::InFlight { .. }),
        BulkCopyFlaw::NoFence => matches!(kind, FaultKind::Unfenced { .. }),
    }
}

/// Returns a pass if `checked`, the result on the emulator, is a fault that `right` accepts, otherwise a failure.
pub(super) fn expect_fault<T: std::fmt::Debug>(
    checked: Result<T, CheckFailure>,
    right: impl Fn(&FaultKind) -> bool,
) -> Verdict {
    match checked {
        Err(CheckFailure::Fault(fault)) if right(&fault.kind) => {
            Verdict::pass(EvidenceLevel::Emulated).with_detail("caught")
        }
        Err(other) => Verdict::fail(EvidenceLevel::Emulated, format!("expected another fault: {other}")),
        Ok(_) => Verdict::fail(EvidenceLevel::Emulated, "the flaw was not found"),
    }
}
