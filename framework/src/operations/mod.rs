//! Operations of the layout algebras by name with JSON inputs: [`perform_layout_operation`] on linear layouts
//! ([`LAYOUT_OPERATIONS`]), [`perform_cute_operation`] on CuTe layouts. The command, the C interface, the documentation
//! and known-answer tests share these tables.

mod algebra;
mod columns;
mod cute;
mod error;
mod inputs;
mod perform;
mod queries;
mod resolve;
mod shape;
mod sizes;
mod table;
mod values;

pub use cute::perform_cute_operation;
pub use error::LayoutOperationError;
pub use perform::perform_layout_operation;
pub use resolve::resolve_layout_inputs;
pub use table::{JsonInputKind, LAYOUT_OPERATIONS, LayoutOperationEntry, LayoutOperationParameter};
