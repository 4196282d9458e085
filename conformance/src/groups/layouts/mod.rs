//! Group `layouts`: the instructions of a target and the layouts that feed them. Shown by algebra and
//! by brute force over positions; nothing is executed.

mod instructions;
mod operands;

use crate::{Case, Context, Group};

/// The group `layouts`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LayoutsGroup;

impl Group for LayoutsGroup {
    fn name(&self) -> &str {
        "layouts"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let mut cases = instructions::cases(context);
        cases.extend(operands::cases(context));
        cases
    }
}
