//! Transformations of tile programs; all preserve semantics, except that a contracted sum is rounded once, and a quotient
//! by a constant twice.
//!
//! [`simplify_types`] replaces types that only texts have, [`make_copies_synchronous`] makes bulk tensor copies
//! synchronous, [`replace_descriptor_accesses`] replaces descriptors by pointers, [`replace_volatile_loads`] makes
//! volatile loads atomic, [`store_by_bulk_copies`] stores through descriptors by bulk tensor copies,
//! [`decompose_scaled_dots`] multiplies operands by scales that no MMA instruction applies, [`widen_accumulators`]
//! accumulates dots in a type that MMA instructions have, [`split_dots`] computes dots in `f32` by several MMAs of a
//! narrower type, [`inline_calls`] inlines calls, [`structurize`] turns branches into structured control flow,
//! [`forward_stores`] forwards stores to loads, [`load_uniform_addresses_once`] makes loads of one address scalar,
//! [`simplify_floats`] computes minima in narrow types and multiplies by reciprocals, [`fuse_multiply_adds`] contracts
//! products and sums, [`remove_unused_operations`] is dead code elimination, [`loads`] and [`explicit`] pipeline loops,
//! [`make_partition_captures_explicit`] makes the captures of warp partitions explicit. After the first nine, a program
//! has one function per entry, with single-block regions. A transformation that fails reports the operation and its
//! location.

mod allocations;
mod bulk_stores;
mod captured;
mod carried;
mod descriptor_accesses;
mod desugar_async;
pub mod explicit;
mod forward;
mod fuse_multiply_adds;
mod graph;
mod inline;
mod ir_cloner;
pub mod loads;
mod pipeliner;
mod repeated;
mod rewrite_error;
mod scaled;
mod simplify_floats;
mod simplify_types;
mod split_dots;
mod structure;
mod structurizer;
mod uniform_loads;
mod unused;
mod volatile_loads;
mod widen_accumulators;

pub use bulk_stores::{BulkStoreSource, BulkStoreTensor, store_by_bulk_copies};
pub use captured::{make_partition_captures_explicit, resolve_captured_value};
pub use descriptor_accesses::replace_descriptor_accesses;
pub use desugar_async::make_copies_synchronous;
pub use forward::forward_stores;
pub use fuse_multiply_adds::fuse_multiply_adds;
pub use inline::inline_calls;
pub(crate) use ir_cloner::{IrCloner, Rewrite, each_function, rewrite_function, rewrite_functions_with, violation};
pub use pipeliner::{TILE_GROUPS, check_tile_groups, find_loops_around, tile_group_count};
pub(crate) use rewrite_error::{RewriteError, Rewritten};
pub use scaled::decompose_scaled_dots;
pub use simplify_floats::{FloatCosts, simplify_floats};
pub use simplify_types::simplify_types;
pub use split_dots::{IsFaster, split_dots};
pub use structure::structurize;
pub use uniform_loads::load_uniform_addresses_once;
pub use unused::remove_unused_operations;
pub use volatile_loads::replace_volatile_loads;
pub use widen_accumulators::{HasMma, widen_accumulators};
