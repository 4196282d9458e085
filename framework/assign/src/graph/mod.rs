//! The layout graph of a function: constraints between the layouts of its values.
//!
//! A [`Node`](node::Node) is one choice of a layout, its *key*, for an operation, or for a value carried by a loop or
//! branch. The layouts of the node's results, and the layouts required of its operands, follow from the key by a layout
//! transfer ([`LayoutTransfer`](crate::layouts::LayoutTransfer)): the identity for elementwise operations, a bijection
//! of coordinates for trans, reshape, join and split, a projection for expand_dims, broadcast and reduce, and the
//! layouts of the MMA plan for dots. An operand that has another layout than the required one is converted, once for
//! each layout.
//!
//! Values that follow from constants and ranges by a few pure operations have no node. They are rematerialized in each
//! required layout, which costs less than any conversion.

mod build;
mod control;
mod explicit;
mod free;
mod kind;
mod node;
mod rules;
mod transfers;

pub(super) use build::{build, usual};
pub(super) use kind::{Access, Kind};
pub(super) use node::{DotNodes, Graph, Node, Port, Remat, RequiredLayout, Role};
