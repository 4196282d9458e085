//! Operations of the layout algebras by name with JSON inputs: [`algebra`] on linear layouts ([`LAYOUT_OPERATIONS`]),
//! [`cute`] on CuTe layouts. The command, the C interface, the documentation and known-answer tests share these tables.

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

pub use cute::cute;
pub use error::OperationError;
pub use perform::algebra;
pub use resolve::resolve_layouts;
pub use table::{InputKind, LAYOUT_OPERATIONS, LayoutOperation, OperationInput};
