//! Group `async`: tensors are copied from global to shared memory past the registers, at once and in stages of which
//! some are under way while another is read; a kernel that reads before its wait must be caught. Shown on the
//! emulator, and as code that a tool takes.
//!
//! Tiles of matrices are prefetched some turns before they are loaded; what no prefetch may name is caught.
//!
//! Boxes of tensors are copied likewise, over the borders of the tensor too, and stored back.
//!
//! What each row does by itself is shown by the group `instructions`.

mod boxes;
mod copy;
mod prefetch;
mod tiles;

use tilewright_target::{Completion, InstructionKind};
use tilewright_verify::kernels::Bulk;

pub use copy::{SharedCopying, Shown};
pub use prefetch::{Prefetching, ShownPrefetch};
pub use tiles::{ShownTiles, TileCopying};

use crate::{Case, Context, Group, Verdict};

/// The group `async`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asynchronous;

impl Group for Asynchronous {
    fn name(&self) -> &str {
        "async"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let rows = context.target().instructions();
        let copies = |row: &tilewright_target::Instruction| {
            row.kind == InstructionKind::AsyncCopy && row.completion != Completion::AtOnce
        };
        let mut cases: Vec<Case> = Prefetching::all(context).into_iter().map(Prefetching::case).collect();
        if !rows.iter().any(copies) {
            let none = |_: &Context| Verdict::unsupported("the target's table has no row that copies asynchronously");
            cases.push(Case::new("async/no-rows", none));
            return cases;
        }
        cases.extend(SharedCopying::all(context).into_iter().map(SharedCopying::case));
        if rows.iter().any(Bulk::is_of) {
            cases.extend(boxes::cases(context));
            let tiles = TileCopying::all(context);
            let on_device = tiles.iter().filter(|_| context.devices().is_some());
            cases.extend(on_device.cloned().filter_map(TileCopying::device_case));
            cases.extend(tiles.into_iter().map(TileCopying::case));
        }
        cases
    }
}
