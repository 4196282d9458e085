//! Executable programs: PTX after names are resolved to registers and variables, labels to steps (indices of
//! instructions), and instructions to operations.
//!
//! This module may import `super::text`, `super::rows` (semantics of instructions) and `super::machine` (state of
//! operations).

mod decode;
mod flow;
mod form;
mod inline;
mod operands;
mod scope;
mod steps;
mod types;

pub(super) use decode::program;
pub(super) use form::{Form, Row, Semantics};
pub(super) use operands::Operands;
pub(super) use steps::{Addresses, Parameter, Program, Special, Step};
pub(super) use types::{Class, Type, mask, sign_extend};
