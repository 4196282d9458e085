//! Cases that show a law by algebra, and the words in which their checks speak.

use tilewright_layout::{FamilyError, FamilySpec, Layout, LinearLayout};

use crate::{Case, Context, Level, Verdict};

/// What a law's check says: nothing where it holds, else the verdict.
pub(super) type Checked = Result<(), Verdict>;

/// A case that holds where its check finds nothing.
pub(super) fn case(name: String, check: impl Fn(&Context) -> Checked + Send + Sync + 'static) -> Case {
    Case::new(name, move |context| match check(context) {
        Ok(()) => Verdict::pass(Level::Layout),
        Err(verdict) => verdict,
    })
}

/// The verdict on what breaks a law.
pub(super) fn broken(detail: impl Into<String>) -> Verdict {
    Verdict::fail(Level::Layout, detail)
}

/// Fails with a detail unless the condition holds.
pub(super) fn require(holds: bool, detail: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(broken(detail())) }
}

/// The layout of a sample, or what a sample without one means.
pub(super) fn resolve(context: &Context, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, Verdict> {
    context.layout(spec, shape).map_err(|error| match error {
        FamilyError::Plugin(message) => Verdict::crash(message),
        // A family may have tensors that are too small for it, and says which.
        FamilyError::Shape { .. } => Verdict::unsupported(error.to_string()),
        _ => broken(error.to_string()),
    })
}

/// The layout of a sample as a distributed one.
pub(super) fn distributed(
    context: &Context,
    spec: &FamilySpec,
    shape: &[u64],
) -> Result<Option<LinearLayout>, Verdict> {
    Ok(match resolve(context, spec, shape)? {
        Layout::Distributed(layout) => Some(layout),
        Layout::Memory(_) | Layout::TensorMemory(_) => None,
    })
}

/// A word of a case name from a name that may have any characters.
pub(super) fn word(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    let word: String = name.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    if word.is_empty() { "-".to_owned() } else { word }
}
