//! Tensor layouts as linear maps over F2.
//!
//! A *distributed layout* maps (register, lane, warp, block) to elements of a tensor; a *memory
//! layout* maps (offset, block) to elements. Both are [`LinearLayout`]s; bases are listed least
//! significant bit first, and the first dim listed is the most minor. A *family* builds layouts
//! from parameters and a shape; [`FamilySpec`] names one, [`Families`] resolves it.
//!
//! [`f2`] holds the linear algebra on machine words; [`cute`] holds CuTe's notation and algebra, with the bridge to
//! linear layouts.

mod affine;
mod algebra;
mod column_action;
mod contiguity;
mod coordinates;
pub mod cute;
mod dim;
mod enlarge;
mod error;
pub mod f2;
pub mod families;
mod family;
mod family_error;
mod family_spec;
mod fit;
pub mod index_arithmetic;
mod limits;
mod linear;
mod memory;
mod nearest;
mod notation;
mod parameters;
mod shape;
mod space;
pub mod text;

pub use affine::AffineLayout;
pub use column_action::ColumnAction;
pub use coordinates::Coordinates;
pub use dim::Dim;
pub use enlarge::{EnlargedShape, MaskRequirement};
pub use error::LayoutError;
pub use family::{Families, FamilyProviders, InstructionOperandReference, Layout, SampleLayout, SampleLayoutRequest};
pub use family_error::FamilyError;
pub use family_spec::{FamilyParameterValue, FamilySpec};
pub use fit::solve_composition;
pub use index_arithmetic::{IndexBuilder, IndexOperand, apply_layout};
pub use limits::MAX_TENSOR_BITS;
pub use linear::{DimBases, LinearLayout};
pub use memory::{MemoryLayout, Padding};
pub use nearest::{find_similar_name, similar_name_hint};
pub use notation::LayoutAliasReader;
pub use notation::to_snake_case;
pub use notation::{
    AttributeParameterPosition, AttributeSyntax, AttributeSyntaxes, LayoutConstructorSyntax, OmittedParameterValues,
    ParameterSyntax, find_camel_case_key, layout_from_json, layout_to_json, parse_definitions, parse_family_spec,
    spec_from_json, spec_to_json,
};
pub use parameters::{AxisNumbers, BasesParameter, BasisCoordinates, IntVec, ParameterReader};
pub use space::Space;
