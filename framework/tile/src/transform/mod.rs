//! Transformations of tile programs, which mean the same before and after.
//!
//! [`at_once`] does copies of boxes when they are issued, [`scaled_before`] multiplies factors by scales that no unit applies,
//! [`inline_calls`] puts what is called where it is called, [`structure`] makes regions of jumps, [`remove_unused`] takes out what
//! nobody needs, [`loads`] and [`explicit`] pipeline loops, [`captured`] says what groups of warps take from
//! outside. After the first four a program is one function for each entry, of single blocks in nested regions. Whatever a
//! transformation cannot do it says with the operation and its place.

mod at_once;
mod captured;
mod carried;
mod copy;
pub mod explicit;
mod graph;
mod inline;
mod jumps;
pub mod loads;
mod pipeliner;
mod repeated;
mod rewrite_error;
mod scaled;
mod structure;
mod unused;

pub use at_once::at_once;
pub use captured::{captured, outside};
pub(crate) use copy::{Copier, Rewrite, each_function, rewritten, violation};
pub use inline::inline_calls;
pub(crate) use rewrite_error::{RewriteError, Rewritten};
pub use scaled::scaled_before;
pub use structure::structure;
pub use unused::remove_unused;
