//! Nodes of the layout graph.

use super::kind::Kind;
use crate::pool::{LayoutId, Pool, ViewId};
use crate::product::Product;
use tilewright_tile::{Op, Value};

/// An end of a node at a value, with the ways between the layout there and the key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// The value.
    pub value: Value,
    /// From the key to the layout at this end.
    pub view: ViewId,
    /// From a layout at this end to the key that gives it, where there is such a way.
    pub back: Option<ViewId>,
}

/// One choice of a layout.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// What it is for.
    pub kind: Kind,
    /// The operation.
    pub op: Option<Op>,
    /// How often it happens, beside what happens once.
    pub weight: f64,
    /// The shape of the tensor that the key is a layout of.
    pub shape: Vec<u64>,
    /// Values that have their layout from it.
    pub outs: Vec<End>,
    /// Values that it wants in its layout.
    pub ins: Vec<End>,
    /// The only key that it may have, where there is only one.
    pub fixed: Option<LayoutId>,
    /// Values that it takes as they are, which what it costs depends on.
    pub watched: Vec<Value>,
}

/// A product of matrices.
#[derive(Debug, Clone)]
pub(crate) struct Multiplication {
    /// The operation.
    pub op: Op,
    /// How it is carried out.
    pub product: Product,
    /// The nodes of its operands, in the order of [`Product::layouts`]; none of those that are taken as they are.
    pub nodes: [Option<usize>; 5],
}

/// Where the layout of a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is no tensor.
    Scalar,
    /// It is computed wherever it is wanted, by so many operations.
    Free(u32),
    /// A view of a node's key.
    Of(usize, ViewId),
}

/// In which layout an operation wants an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredLayout {
    /// It is no tensor.
    Scalar,
    /// As it is.
    AsIs,
    /// In a view of a node's key.
    Of(usize, ViewId),
    /// Of an operation that is carried out wherever it is wanted: in a view of its result's layout.
    OfResult(ViewId),
}

/// How a value is made that is computed wherever it is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Remat {
    /// Whether its operation is an instruction for each register; constants and views of tensors are none.
    pub is_issued: bool,
    /// So many neighbours along each axis are the same, or follow each other: one instruction makes them all, since accesses
    /// add what is constant to their address.
    pub together: Vec<u64>,
    /// The tensors that it is made of, and their layouts as views of its own.
    pub operands: Vec<(Value, ViewId)>,
}

/// The graph.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    /// The layouts and views in it.
    pub pool: &'a Pool,
    /// The choices, in the order of the program.
    pub nodes: Vec<Node>,
    /// The products, in the order of the program.
    pub products: Vec<Multiplication>,
    /// By number of the value.
    pub roles: Vec<Role>,
    /// By number of the value: how it is made, where it is computed wherever it is wanted.
    pub again: Vec<Option<Remat>>,
    /// By number of the value: whether turns of a loop load it, or make it of what they load by operations on its elements
    /// alone. Where it passes through shared memory, it can be loaded turns ahead.
    pub is_loaded: Vec<bool>,
    /// By number of the value: how often it is made, beside what is made once.
    pub weights: Vec<f64>,
    /// By number of the value: bits of an element when it moves.
    pub bits: Vec<u32>,
    /// By number of the operation, for each of its operands.
    pub wants: Vec<Vec<RequiredLayout>>,
    /// By number of the value: the nodes that want it, and how.
    pub users: Vec<Vec<(usize, ViewId)>>,
    /// By number of the value: nodes whose cost depends on its layout, though they take it as it is.
    pub watchers: Vec<Vec<usize>>,
}
