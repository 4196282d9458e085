//! Chooses the shared-memory layout of a tensor from its stores and loads.
//!
//! [`choose_shared_layout`] compares layouts of all kinds by one score: plain order, any linear map, padding, and
//! permutations of the elements that a copy from global memory fetches. The score takes its wavefronts from the access
//! plans of `movement::memory`.
//!
//! - [`swizzle`]: one writer and one reader; the dimensions of subspaces give the swizzle (Linear Layouts paper, Lemma
//!   9.5).
//! - `linear`: any accessors, by a search of linear layouts with a budget. Its first layouts combine candidates for the
//!   low offset bits (`bank_words`) with candidates for the bits above those that select a bank (`segments`).
//!   `estimate` counts their wavefronts, exactly for layouts without padding.
//! - `functor`: `Swizzle<B,M,S>` over axes in some order (Hexcute paper).
//! - `padding`: padding between equal intervals of elements (Triton Bespoke Layouts).
//! - `copies`: copies that write consecutively the elements of consecutive lanes (Triton Bespoke Layouts).

mod accessor;
mod bank_words;
mod choice;
mod copies;
mod estimate;
mod functor;
mod linear;
mod lower_bound;
mod padding;
mod problem;
mod random;
mod search;
mod segments;
mod side;
pub(in crate::movement) mod swizzle;
mod weigh;

pub use accessor::{LayoutPrefixConstraint, SharedLayoutSearchOptions, SharedMemoryAccessor, WarpAddressedSharedCopy};
pub use choice::{AccessorStats, GlobalFetchLayout, RankedSharedLayouts, SharedLayoutCandidate, SharedLayoutKind};
pub use search::choose_shared_layout;
pub(crate) use search::{choose_shared_layout_with_prefix, wavefront_lower_bound};
pub use swizzle::ScratchLayout;
