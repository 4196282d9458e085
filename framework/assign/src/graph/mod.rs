//! The constraint graph of a function: which layouts of its values follow from which.
//!
//! A [`Node`] is one choice of a layout, its *key*: an operation's, or that of a value carried round a loop or given by
//! branches. The layouts that the node gives to its values, and those in which it wants its operands, are views of the
//! key ([`View`]): the same for elementwise operations (equalities); another order or other axes for trans, reshape,
//! join, split (bijections); fewer axes for expand_dims, broadcast, reduce (projections); what the plan says for products. An
//! operand that is wanted in another layout than its own is converted, once for each layout.
//!
//! Values that follow from constants and ranges by a few pure operations have no node: they are computed again in each
//! layout in which they are wanted, which costs less than any conversion.

mod build;
mod control;
mod explicit;
mod free;
mod kind;
mod node;
mod rules;
mod views;

pub(super) use build::{build, usual};
pub(super) use kind::{ISSUE, Kind};
pub(super) use node::{End, Graph, Multiplication, Node, Remat, RequiredLayout, Role};
