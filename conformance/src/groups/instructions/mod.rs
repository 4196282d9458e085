//! Group `instructions`: each row of a target's instruction table is an instruction. Shown on the
//! emulator and on a device, by its result, and as code that a tool takes.
//!
//! That operands cover their tiles is shown by the group `layouts`.

mod block_load;
mod bulk;
mod code;
mod prefetch;

use std::collections::BTreeSet;

use tilewright_plan::movement::Means;
use tilewright_target::{Instruction, InstructionKind};
use tilewright_verify::kernels::Bulk;
use tilewright_verify::{Disproof, prove_instruction_on, prove_instruction_with};

use super::emulated::either;
use super::executed::{on_device, trials_on_device};
use super::law::word;
use crate::{Case, Context, Group, Level, Verdict};

/// The group `instructions`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Instructions;

impl Group for Instructions {
    fn name(&self) -> &str {
        "instructions"
    }

    /// The instruction, of what shows its meaning: code of one is much like that of others of its kind.
    fn subject<'a>(&self, name: &'a str) -> Option<&'a str> {
        name.starts_with("instructions/meaning/").then_some(name)
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let (mut cases, mut seen) = (Vec::new(), BTreeSet::new());
        for row in context.target().instructions() {
            let name = word(&row.name);
            // That no two rows have one name is for the group `layouts` to say.
            if !seen.insert(name.clone()) {
                continue;
            }
            cases.push(case(format!("meaning/{name}"), row, meaning));
            cases.push(case(format!("code/{name}"), row, code));
            if context.devices().is_some() && !prefetches(row) {
                cases.push(device_case(format!("device/{name}"), row));
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

/// The same on a device.
fn device_case(name: String, row: &Instruction) -> Case {
    if !Bulk::is_of(row) {
        return case(name, row, executed);
    }
    let packed = row.clone();
    let run = |context: &Context, row: &Instruction| {
        either(bulk::trials(context, row).and_then(|all| trials_on_device(context, all)))
    };
    case(name, row, run).with_trials(move |context| bulk::trials(context, &packed))
}

fn code(context: &Context, row: &Instruction) -> Verdict {
    match row {
        row if Bulk::is_of(row) => bulk::compiled(context, row),
        row if prefetches(row) => prefetch::compiled(context, row),
        row if block_load::is_of(row) => block_load::compiled(context, row),
        row => code::compiled(context, row),
    }
}

fn prefetches(row: &Instruction) -> bool {
    row.kind == InstructionKind::Prefetch
}

/// The same on a device.
fn executed(context: &Context, row: &Instruction) -> Verdict {
    if block_load::is_of(row) {
        return block_load::executed(context, row);
    }
    on_device(context, |device| prove_instruction_on(device, context.target(), row))
}

/// Runs the instruction once: a product must be that of matrices, computed element by element, and a
/// move must bring every byte to its place.
fn meaning(context: &Context, row: &Instruction) -> Verdict {
    let target = context.target();
    let proof = match row {
        row if Bulk::is_of(row) => bulk::prove(context, row),
        row if prefetches(row) => prefetch::prove(context, row),
        row if block_load::is_of(row) => block_load::prove(context, row),
        row => {
            let means = Means::of(target.description()).with_instructions(target.instructions());
            prove_instruction_with(row, means).map(drop)
        }
    };
    match proof {
        Ok(()) => Verdict::pass(Level::Emulated),
        Err(wrong @ (Disproof::Row(_) | Disproof::Invalid(_))) => Verdict::fail(Level::Layout, wrong.to_string()),
        Err(wrong) => Verdict::fail(Level::Emulated, wrong.to_string()),
    }
}
