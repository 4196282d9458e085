//! CuTe layouts: nested shapes and strides over the integers, their algebra, swizzles, and the
//! bridge to linear layouts.
//!
//! A layout maps the integers below its size to offsets. An integer coordinate is split over the
//! modes with the leftmost fastest (colexicographically); the last mode is not reduced, so a layout
//! extends past its size. Every operation is exact, or an error that shows a counterexample.
//! The text is CuTe's: `((4,8),(2,2)):((32,1),(16,8))`, `Swizzle<3,4,3> o 0 o (8,64):(64,1)`.
//!
//! ```
//! use tilewright_layout::cute::{CuteLayout, composition};
//! let rows: CuteLayout = "(4,8):(8,1)".parse()?;
//! assert_eq!(composition(&rows, &"8:2".parse()?)?.to_string(), "(2,4):(16,1)");
//! // Adding the values of both modes carries from the first digit to the second: no layout is this map.
//! let carries = composition(&"(6,4):(4,1)".parse()?, &"(2,3):(4,1)".parse()?);
//! assert!(carries.is_err());
//! # Ok::<(), tilewright_layout::cute::CuteError>(())
//! ```

mod bridge;
mod coalesce;
mod composition;
mod coordinates;
mod divide;
mod error;
mod inverse;
mod layout;
mod notated;
mod product;
mod recast;
mod select;
mod signed;
mod swizzle;
mod syntax;
mod task_mapping;
mod tensor;
mod text;
mod thread_value;
mod tuple;

pub use bridge::{from_linear, to_affine, to_linear, to_linear_modes};
pub use coalesce::{coalesce, coalesce_by, filter, filter_zeros};
pub use composition::{Tiler, composition, composition_by};
pub use coordinates::{CoordinateLayout, CoordinateMode};
pub use divide::{flat_divide, logical_divide, tiled_divide, zipped_divide};
pub use error::CuteError;
pub use inverse::{complement, left_inverse, max_common_layout, max_common_vector, nullspace, right_inverse};
pub use layout::{CuteLayout, CuteLeaf, crd2idx, idx2crd};
pub use notated::NotatedLayout;
pub use product::{
    blocked_product, flat_product, logical_product, raked_product, tile_to_shape, tiled_product, zipped_product,
};
pub use recast::{downcast, recast, upcast};
pub use select::PartialCoordinate;
pub use signed::{SignedLayout, SignedLeaf};
pub use swizzle::{ComposedLayout, Swizzle};
pub use task_mapping::{IndexTerm, LoopOrThreadIndex, TaskCoordinateExpr, TaskLoopNest, TaskMapping};
pub use tensor::{from_tensor_layout, to_distributed, to_memory};
pub use text::parse_tuple_with_unknowns;
pub use thread_value::ThreadValue;
pub use tuple::{IntTuple, Tree, TupleView};

pub use crate::limits::MAX_DEPTH;
