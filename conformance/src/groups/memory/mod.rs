//! Group `memory` of the suite: stores of tensors in registers to shared and global memory, and loads. Elements must be
//! at the positions that their layouts give, and the executed operations must equal the plan's counts.

mod global;
mod local;

pub use global::{GlobalCopyCase, KnownTensorProperties};
pub use local::LocalAccess;

use crate::{Case, CaseGroup, Context};

/// The group `memory` of the conformance suite: cases on stores and loads of tensors.
#[derive(Debug, Clone, Copy)]
pub struct MemoryGroup;

impl CaseGroup for MemoryGroup {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let local = LocalAccess::all(context).into_iter();
        let global = GlobalCopyCase::all(context).into_iter();
        local.map(LocalAccess::case).chain(global.map(GlobalCopyCase::case)).collect()
    }
}
