//! Layout attributes of types: resolving a name to its layout, and naming a layout.
//!
//! A type names its layout ([`LayoutAttribute`](tilewright_tile::LayoutAttribute)); the families of the target (named
//! constructors of layouts, such as `blocked`) resolve the name. [`LayoutCache`] resolves each name and shape once.
//! [`format_layout_attribute`] is the inverse: the attribute that names a layout.

mod blocks;
mod coordinates;
mod layout_transfer;
mod name;
mod resolve;
mod shape_transfers;

pub(crate) use blocks::coalesced_over_blocks;
pub use blocks::{ClusterPartition, replicate_axes_in_blocks};
pub use coordinates::{
    coordinates_from_row_major, first_coordinates, map_coordinates, row_major_index, unpack_coordinates,
};
pub use layout_transfer::{LayoutTransfer, tensor_shape_from_layout, to_canonical_dim_order};
pub use name::format_layout_attribute;
pub use resolve::{LayoutCache, LayoutResolveError, MemDescLayout, resolve_distributed_layout};
pub(crate) use shape_transfers::{shape_transfers, transferred_axis};
