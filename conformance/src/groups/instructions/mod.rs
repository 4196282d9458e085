//! Group `instructions` of the suite: each entry of a target's instruction table describes a real instruction
//! correctly. It is checked by its result on the emulator and on a device, and as code that an assembler accepts.
//!
//! The group `layouts` checks that the layouts of operands cover their tiles.

mod block_load;
mod bulk;
mod code;
mod prefetch;

use std::collections::BTreeSet;

use tilewright_plan::movement::PlanContext;
use tilewright_target::{Instruction, InstructionKind};
use tilewright_verify::kernels::BulkCopyExtent;
use tilewright_verify::{CheckFailure, TestCase, build_instruction_case, check_emulated};

use super::executed::{device_case, not_built};
use super::law::case_name_part;
use crate::{Case, CaseGroup, Context, EvidenceLevel, Verdict};

/// The group `instructions` of the conformance suite: cases on the semantics and code of single instructions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Instructions;

impl CaseGroup for Instructions {
    fn name(&self) -> &str {
        "instructions"
    }

    /// Returns the name for a case that checks the semantics of an instruction; `None` for a case that compiles one,
    /// since code is similar for instructions of a kind.
    fn subject<'a>(&self, name: &'a str) -> Option<&'a str> {
        name.starts_with("instructions/meaning/").then_some(name)
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let (mut cases, mut seen) = (Vec::new(), BTreeSet::new());
        for row in context.target().instructions() {
            let name = case_name_part(&row.name);
            // Of instructions with equal names, only the first is checked here; a case of the group `layouts` fails for
            // the equal names.
            if !seen.insert(name.clone()) {
                continue;
            }
            cases.push(case(format!("meaning/{name}"), row, meaning));
            cases.push(case(format!("code/{name}"), row, code));
            if context.tested_device().is_some() && !prefetches(row) {
                let (name, row) = (format!("instructions/device/{name}"), row.clone());
                cases.push(device_case(name, move |context| test_cases(context, &row)));
            }
        }
        cases.push(Case::new("instructions/code/no-such-row", code::unknown));
        cases
    }
}

fn case(name: String, row: &Instruction, check: fn(&Context, &Instruction) -> Verdict) -> Case {
    let row = row.clone();
    Case::new(format!("instructions/{name}"), move |context| check(context, &row))
}

fn code(context: &Context, row: &Instruction) -> Verdict {
    match row {
        row if BulkCopyExtent::is_copied_by(row) => bulk::compiled(context, row),
        row if prefetches(row) => prefetch::compiled(context, row),
        row if block_load::is_of(row) => block_load::compiled(context, row),
        row => code::compiled(context, row),
    }
}

fn prefetches(row: &Instruction) -> bool {
    row.kind == InstructionKind::Prefetch
}

/// Builds the kernels that check an instruction on a device, with inputs and expected outputs.
fn test_cases(context: &Context, row: &Instruction) -> Result<Vec<TestCase>, Verdict> {
    let target = context.target();
    match row {
        row if BulkCopyExtent::is_copied_by(row) => bulk::test_cases(context, row),
        row if block_load::is_of(row) => block_load::test_cases(context, row),
        row => {
            let plan_context = PlanContext::new(target.description()).with_instructions(target.instructions());
            build_instruction_case(row, plan_context).map(|case| vec![case]).map_err(not_built)
        }
    }
}

/// Runs the instruction once on the emulator. Each element of an MMA's result must equal the dot's; a move must
/// bring every byte to its destination; a prefetch must fetch the sectors of the matrix.
fn meaning(context: &Context, row: &Instruction) -> Verdict {
    let target = context.target();
    let checked = match row {
        row if BulkCopyExtent::is_copied_by(row) => bulk::emulated(context, row),
        row if prefetches(row) => prefetch::emulated(context, row),
        row if block_load::is_of(row) => block_load::emulated(context, row),
        row => {
            let plan_context = PlanContext::new(target.description()).with_instructions(target.instructions());
            build_instruction_case(row, plan_context).and_then(|case| check_emulated(&case, plan_context)).map(drop)
        }
    };
    match checked {
        Ok(()) => Verdict::pass(EvidenceLevel::Emulated),
        Err(wrong @ (CheckFailure::Row(_) | CheckFailure::Invalid(_))) => {
            Verdict::fail(EvidenceLevel::Layout, wrong.to_string())
        }
        Err(wrong) => Verdict::fail(EvidenceLevel::Emulated, wrong.to_string()),
    }
}
