//! Group `memory`: tensors in registers are stored to shared and to global memory and loaded from them, and are
//! then where the layouts say; what was executed is what the plan counted.

mod global;
mod local;

pub use global::{GlobalCopy, Known};
pub use local::LocalAccess;

use crate::{Case, Context, Group};

/// The group.
#[derive(Debug, Clone, Copy)]
pub struct MemoryGroup;

impl Group for MemoryGroup {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let local = LocalAccess::all(context).into_iter();
        let global = GlobalCopy::all(context).into_iter();
        local.map(LocalAccess::case).chain(global.map(GlobalCopy::case)).collect()
    }
}
