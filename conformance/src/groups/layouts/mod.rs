//! Group `layouts`: the layouts that a target's families build and its instructions take are what
//! they claim to be. Shown by algebra and by brute force over positions; nothing is executed.

mod families;
mod instructions;
mod notation;
mod operands;

use tilewright::layout::{FamilyError, FamilySpec, Layout, LinearLayout};

use crate::{Case, Context, Group, Level, Verdict};

/// The group `layouts`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Layouts;

impl Group for Layouts {
    fn name(&self) -> &str {
        "layouts"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = families::cases(context);
        cases.extend(instructions::cases(context));
        cases.extend(operands::cases(context));
        cases
    }
}

/// What a law's check says: nothing where it holds, else the verdict.
type Checked = Result<(), Verdict>;

/// A case of this group.
fn case(name: String, check: impl Fn(&Context) -> Checked + Send + Sync + 'static) -> Case {
    Case::new(format!("layouts/{name}"), move |context| match check(context) {
        Ok(()) => Verdict::pass(Level::Layout),
        Err(verdict) => verdict,
    })
}

/// The verdict on what breaks a law.
fn broken(detail: impl Into<String>) -> Verdict {
    Verdict::fail(Level::Layout, detail)
}

/// Fails with a detail unless the condition holds.
fn require(holds: bool, detail: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(broken(detail())) }
}

/// The layout of a sample, or what a sample without one means.
fn resolve(context: &Context, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, Verdict> {
    context.layout(spec, shape).map_err(|error| match error {
        FamilyError::Plugin(message) => Verdict::crash(message),
        // A family may have tensors that are too small for it, and says which.
        FamilyError::Shape { .. } => Verdict::unsupported(error.to_string()),
        _ => broken(error.to_string()),
    })
}

/// The layout of a sample as a distributed one.
fn distributed(context: &Context, spec: &FamilySpec, shape: &[u64]) -> Result<Option<LinearLayout>, Verdict> {
    Ok(match resolve(context, spec, shape)? {
        Layout::Distributed(layout) => Some(layout),
        Layout::Memory(_) | Layout::TensorMemory(_) => None,
    })
}

/// A word of a case name from a name that may have any characters.
fn word(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    name.chars().map(|c| if allowed(c) { c } else { '-' }).collect()
}
