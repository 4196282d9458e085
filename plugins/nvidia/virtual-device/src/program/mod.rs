//! PTX as it is run: names are places, labels are steps, instructions are operations with their operands.
//!
//! May import `super::text`, `super::rows` (what instructions mean) and `super::machine` (what operations work on).

mod decode;
mod flow;
mod form;
mod operands;
mod scope;
mod steps;
mod types;

pub(super) use decode::program;
pub(super) use form::{Compute, Form, Meaning, Row};
pub(super) use operands::Operands;
pub(super) use steps::{Addresses, Parameter, Program, Special, Step};
pub(super) use types::{Class, Type, mask, sign_extend};
