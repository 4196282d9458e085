//! From words that say where tensors are to those of Triton's IR.
//!
//! Views of global memory become pointers, tensors in shared memory allocations, copies loads, stores and copies that are
//! waited for. What is chosen about them is given ([`Choices`]): who finds it is the engine. Layouts of shared memory stay
//! open ([`OPEN`]) until those of the registers around them are known.
//!
//! - `expand`: operation by operation, `expander` what is known meanwhile;
//! - `choices`: what is chosen;
//! - `view`: views of global memory, `tile` the pointers of a tile and which elements are there;
//! - `copy`: copies, `tensor_copy` bulk tensor copies;
//! - `loops`: loops whose copies can be prefetched, `pipeline` how they are;
//! - `packed`: elements narrower than a byte;
//! - `values`: products, casts, reductions.

mod choices;
mod copy;
mod expand;
mod expander;
mod loops;
mod packed;
mod pipeline;
mod tensor_copy;
mod tile;
mod values;
mod view;

pub use super::pipeliner::EVERY_WARP;
pub use choices::{Choices, CopyChoice, Distance, Mapped, ProductChoice, ValueTerm};
pub use expand::{Expanded, expand};
pub use expander::OPEN;
pub use loops::{Loop, loops};
