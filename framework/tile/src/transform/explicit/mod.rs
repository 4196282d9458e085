//! From words that say where tensors are to those of Triton's IR.
//!
//! Views of global memory become pointers, tensors in shared memory allocations, copies loads, stores and copies that are
//! waited for. What is chosen about them is given ([`Choices`]): who finds it is the engine. Layouts of shared memory stay
//! open ([`OPEN`]) until those of the registers around them are known.
//!
//! - `view`: the pointers of a tile, and what of it is there;
//! - `choices`: what is chosen;
//! - `copy`: copies;
//! - `boxes`: copies by boxes, whose bytes arrive at an mbarrier of each buffer;
//! - `stages`: loops whose copies go ahead of what uses them, `turns` what their turns do, `held` copies that registers hold
//!   meanwhile, `producers` those that a warp of its own issues;
//! - `packed`: elements narrower than a byte;
//! - `values`: products, casts, reductions.

mod boxes;
mod choices;
mod copy;
mod expander;
mod held;
mod loops;
mod packed;
mod producers;
mod stages;
mod turns;
mod values;
mod view;

pub use choices::{Choices, CopyChoice, Distance, Mapped, ProductChoice, Term};
pub(in crate::transform) use copy::{commit, wait_for};
pub(in crate::transform) use expander::Maker;
pub use expander::{EVERY_WARP, Expanded, OPEN, expand};
use expander::{Expander, violation, violation_of};
pub use loops::{Loop, loops};
