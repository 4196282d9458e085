//! Group `async` of the suite: copies of tensors from global to shared memory that bypass the registers, once and
//! software-pipelined. They are checked on the emulator, which must also report a kernel that reads before its wait,
//! and as code that an assembler accepts.
//!
//! Further cases prefetch tiles of matrices to caches some iterations before the tiles are loaded; the emulator must
//! report a prefetch with invalid operands.
//!
//! Bulk tensor copies move boxes (rectangular parts) of tensors to shared memory and back, across the borders of the
//! tensor too.
//!
//! The group `instructions` checks each instruction alone, so these cases check plans and kernels.

mod bulk_copies;
mod copy;
mod prefetch;
mod tiles;

use tilewright_target::{Completion, InstructionKind};
use tilewright_verify::kernels::BulkCopyExtent;

pub use copy::{AsyncCopyCase, AsyncCopyProperty};
pub use prefetch::{PrefetchCase, PrefetchProperty};
pub use tiles::{TileCopyCase, TileCopyProperty};

use crate::{Case, CaseGroup, Context, Verdict};

/// The group `async` of the conformance suite: cases on asynchronous copies from global to shared memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asynchronous;

impl CaseGroup for Asynchronous {
    fn name(&self) -> &str {
        "async"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let rows = context.target().instructions();
        let copies = |row: &tilewright_target::Instruction| {
            row.kind == InstructionKind::AsyncCopy && row.completion != Completion::Immediate
        };
        let mut cases: Vec<Case> = PrefetchCase::all(context).into_iter().map(PrefetchCase::case).collect();
        if !rows.iter().any(copies) {
            let none = |_: &Context| Verdict::unsupported("the target has no instruction that copies asynchronously");
            cases.push(Case::new("async/no-rows", none));
            return cases;
        }
        cases.extend(AsyncCopyCase::all(context).into_iter().map(AsyncCopyCase::case));
        if rows.iter().any(BulkCopyExtent::is_copied_by) {
            cases.extend(bulk_copies::cases(context));
            let tiles = TileCopyCase::all(context);
            let on_device = tiles.iter().filter(|_| context.tested_device().is_some());
            cases.extend(on_device.cloned().filter_map(TileCopyCase::device_case));
            cases.extend(tiles.into_iter().map(TileCopyCase::case));
        }
        cases
    }
}
