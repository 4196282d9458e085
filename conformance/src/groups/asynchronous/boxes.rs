//! Rows that copy boxes and spans, by themselves: with every arrangement and width of elements, over the borders of the
//! tensor; and with what makes such a copy wrong, which must be found.

use tilewright_emulator::FaultKind;
use tilewright_target::Instruction;
use tilewright_verify::CheckFailure;
use tilewright_verify::kernels::{Bulk, BulkFlaw};

use super::super::bulk::{box_operand, box_test_cases, everywhere, flawed, map_of, way};
use super::super::executed::device_case;
use super::super::law::word;
use crate::{Case, Context, Level, Verdict};

/// Widths of elements that maps have.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// All cases of all such rows.
pub(super) fn cases(context: &Context) -> Vec<Case> {
    let rows = context.target().instructions().iter().filter(|row| Bulk::is_of(row));
    rows.flat_map(|row| borders(context, row).into_iter().chain(wrong(row))).collect()
}

/// `boxes/to-shared/2d/swizzle-of-128-bytes/b16`.
fn borders(context: &Context, row: &Instruction) -> Vec<Case> {
    let Some(operand) = box_operand(row) else { return Vec::new() };
    let mut cases = Vec::new();
    for arrangement in &operand.arrangements {
        for bits in WIDTHS {
            let map = map_of(operand, arrangement, bits);
            let name = format!("boxes/{}/{}d/{}/b{bits}", way(row), operand.rank, word(&arrangement.name));
            if context.devices().is_some() {
                let (row, map) = (row.clone(), map.clone());
                let name = format!("async/device/{name}");
                cases.push(device_case(name, move |context| box_test_cases(context, &row, &map)));
            }
            let row = row.clone();
            cases.push(Case::new(format!("async/{name}"), move |context| {
                match everywhere(&row, &map, context.target().description()) {
                    Ok(()) => Verdict::pass(Level::Emulated),
                    Err(wrong) => Verdict::fail(Level::Emulated, wrong.to_string()),
                }
            }));
        }
    }
    cases
}

/// `wrong-boxes/to-shared/2d/no-wait`, `wrong-spans/from-shared/no-fence`.
fn wrong(row: &Instruction) -> Vec<Case> {
    let flaws = BulkFlaw::ALL.into_iter().filter(|flaw| flaw.concerns(row.completion));
    let what = match box_operand(row) {
        Some(operand) => format!("wrong-boxes/{}/{}d", way(row), operand.rank),
        None => format!("wrong-spans/{}", way(row)),
    };
    let case = |flaw: BulkFlaw| {
        let row = row.clone();
        Case::new(format!("async/{what}/{}", named(flaw)), move |context| {
            let checked = flawed(&row, flaw, context.target().description());
            found(checked, |kind| finds(flaw, kind))
        })
    };
    flaws.map(case).collect()
}

fn named(flaw: BulkFlaw) -> &'static str {
    match flaw {
        BulkFlaw::NoWait => "no-wait",
        BulkFlaw::NothingExpected => "nothing-expected",
        BulkFlaw::OtherPhase => "other-phase",
        BulkFlaw::NoFence => "no-fence",
    }
}

/// Whether that is what is wrong.
fn finds(flaw: BulkFlaw, kind: &FaultKind) -> bool {
    match flaw {
        BulkFlaw::NoWait => matches!(kind, FaultKind::InFlight { .. } | FaultKind::Unfinished { .. }),
        BulkFlaw::NothingExpected => matches!(kind, FaultKind::InFlight { .. } | FaultKind::NeverCompletes { .. }),
        BulkFlaw::OtherPhase => matches!(kind, FaultKind::InFlight { .. }),
        BulkFlaw::NoFence => matches!(kind, FaultKind::Unfenced { .. }),
    }
}

/// The emulator must have found such a fault.
pub(super) fn found<T: std::fmt::Debug>(
    checked: Result<T, CheckFailure>,
    right: impl Fn(&FaultKind) -> bool,
) -> Verdict {
    match checked {
        Err(CheckFailure::Fault(fault)) if right(&fault.kind) => Verdict::pass(Level::Emulated).with_detail("caught"),
        Err(other) => Verdict::fail(Level::Emulated, format!("another fault was expected: {other}")),
        Ok(_) => Verdict::fail(Level::Emulated, "what was left out was not found"),
    }
}
