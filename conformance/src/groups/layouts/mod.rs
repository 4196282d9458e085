//! Group `layouts` of the suite: the layouts of the operands in a target's instruction table. They are checked by
//! algebra and by enumerating all positions; nothing is executed.

mod instructions;
mod operands;

use crate::{Case, CaseGroup, Context};

/// The group `layouts` of the conformance suite: cases on the layouts of instruction operands.
#[derive(Debug, Clone, Copy, Default)]
pub struct LayoutsGroup;

impl CaseGroup for LayoutsGroup {
    fn name(&self) -> &str {
        "layouts"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = instructions::cases(context);
        cases.extend(operands::cases(context));
        cases
    }
}
