//! Tests of `tile`, one module per subject.

mod axis_info;
mod errors;
mod explicit;
mod syntax;
mod text;
mod transform;
