//! Choosing the layout of a tensor in shared memory from those who store and load it.
//!
//! [`choose_shared_layout`] weighs the kinds of layouts that there are, from a row after row to any linear
//! map, padding, and the permutation of what a copy from global memory fetches, all by one score, and
//! says which won. The score's wavefronts are those of the access plans of `movement::memory`.
//!
//! - [`swizzle`]: one writer and one reader, by the dimension of subspaces (seed 000, Lemma 9.5).
//! - `linear`: any accessors, by a search of linear layouts under a budget; from which low offset bits
//!   (`bank_words`) and segments (`segments`), led by an exact count for layouts without gaps (`estimate`).
//! - `functor`: `Swizzle<B,M,S>` over axes in some order (seed 003).
//! - `padding`: gaps after every so many elements (seed 002).
//! - `copies`: copies that write what consecutive lanes fetch consecutively (seed 002).

mod accessor;
mod bank_words;
mod choice;
mod copies;
mod estimate;
mod functor;
mod least;
mod linear;
mod padding;
mod problem;
mod random;
mod search;
mod segments;
mod side;
pub(in crate::movement) mod swizzle;
mod weigh;

pub use accessor::{Accessor, Begin, ConsecutiveCopy, Constraints};
pub use choice::{AccessorStats, Fetch, Kind, MemoryChoice, SharedLayoutCandidate};
pub use search::choose_shared_layout;
pub(crate) use search::{choose_memory_begun, least_wavefronts};
pub use swizzle::ScratchLayout;
