//! Cases that check a law (property of layouts) by algebra, and the functions that the checks share.

use tilewright_layout::{FamilyError, FamilySpec, Layout, LinearLayout};

use crate::{Case, Context, EvidenceLevel, Verdict};

/// The result of a check: `Ok` if the law holds, or the failing verdict.
pub(super) type LawResult = Result<(), Verdict>;

/// Creates a case that passes, at the level of layout algebra, if its check does.
pub(super) fn case(name: String, check: impl Fn(&Context) -> LawResult + Send + Sync + 'static) -> Case {
    Case::new(name, move |context| match check(context) {
        Ok(()) => Verdict::pass(EvidenceLevel::Layout),
        Err(verdict) => verdict,
    })
}

/// Returns the verdict on a violation of a law.
pub(super) fn law_failure(detail: impl Into<String>) -> Verdict {
    Verdict::fail(EvidenceLevel::Layout, detail)
}

/// Returns a failing verdict with the given detail unless `holds`.
pub(super) fn require(holds: bool, detail: impl FnOnce() -> String) -> LawResult {
    if holds { Ok(()) } else { Err(law_failure(detail())) }
}

/// Builds the layout of a sample, or returns the verdict of the case if the layout cannot be built.
pub(super) fn resolve(context: &Context, spec: &FamilySpec, shape: &[u64]) -> Result<Layout, Verdict> {
    context.build_layout(spec, shape).map_err(|error| match error {
        FamilyError::Plugin(message) => Verdict::crash(message),
        // A family may reject tensors that are too small for it, with a reason.
        FamilyError::Shape { .. } => Verdict::unsupported(error.to_string()),
        _ => law_failure(error.to_string()),
    })
}

/// Builds the layout of a sample; `None` unless it is a distributed layout.
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

/// Converts a name of any characters to a word of case names: other characters than the permitted ones become `-`.
pub(super) fn case_name_part(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    let word: String = name.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    if word.is_empty() { "-".to_owned() } else { word }
}
