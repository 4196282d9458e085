//! What the layouts in types stand for, and what a layout is called in a type.
//!
//! A type names its layout ([`LayoutName`](tilewright_tile::LayoutName)); what the name means is for the families of the
//! target to say. [`LayoutCache`] asks them once for each name and shape. The other way round, [`name`] gives the name by
//! which a type says a layout.

mod coordinates;
mod name;
mod resolve;
mod view;

pub use coordinates::{coordinates, mapped, of_row_major, row_major};
pub use name::name;
pub use resolve::{LayoutCache, MemoryAddressing, NoLayout, distributed};
pub use view::{LayoutTransfer, in_order, shape_of};
