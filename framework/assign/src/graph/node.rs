//! Nodes of the layout graph. A node is one choice of a layout (its key), from which the layouts of its values follow.

use super::kind::Kind;
use crate::dot_plan::DotPlan;
use crate::interner::{Interner, LayoutId, TransferId};
use tilewright_tile::{Op, Value};

/// A value of a node (a result, or a required operand), with the layout transfers between the node's key and the
/// value's layout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    /// The result or operand.
    pub value: Value,
    /// The layout transfer from the node's key to the layout of the value.
    pub transfer: TransferId,
    /// The layout transfer from a layout of the value to the key that gives it; `None` if the transfer has no inverse.
    pub back: Option<TransferId>,
}

/// A node of the layout graph: one choice of a layout, for an operation or for a value carried by a loop or branch.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The kind of the node, which determines its cost.
    pub kind: Kind,
    /// The operation whose layout is chosen; `None` for a value that no operation defines, such as a block argument.
    pub op: Option<Op>,
    /// Assumed number of executions of the operation, relative to code outside of loops.
    pub weight: f64,
    /// The shape of the tensor whose layout is the node's key.
    pub shape: Vec<u64>,
    /// The values whose layouts follow from this node's key.
    pub outs: Vec<Port>,
    /// The operands of the node's operation for which the node's key determines the required layout.
    pub ins: Vec<Port>,
    /// The only key (layout) that the node may take; `None` if any key is allowed.
    pub fixed: Option<LayoutId>,
    /// The operands that the node takes in any layout, but whose layouts its cost depends on (the source of a gather).
    pub watched: Vec<Value>,
}

/// A dot with its plan and the indices of its operands' graph nodes.
#[derive(Debug, Clone)]
pub(crate) struct DotNodes {
    /// The dot operation.
    pub op: Op,
    /// The MMA plan of the dot.
    pub dot_plan: DotPlan,
    /// The index of each operand's node, in the order of [`DotPlan::layouts`]; `None` for an operand that is taken in
    /// any layout.
    pub nodes: [Option<usize>; 5],
}

/// The source of a value's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The value is no tensor and has no layout.
    Scalar,
    /// The value is rematerialized in every layout that is required of it, by this number of operations.
    Free(u32),
    /// The layout follows from the key of this node by this layout transfer.
    Of(usize, TransferId),
}

/// The layout that an operation requires of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredLayout {
    /// The operand is no tensor and has no layout.
    Scalar,
    /// The operation takes the operand in the layout that it has.
    AsIs,
    /// The required layout follows from the key of this node by this layout transfer.
    Of(usize, TransferId),
    /// The operation is rematerialized; the required layout follows from the layout of its result by this layout
    /// transfer.
    OfResult(TransferId),
}

/// The properties of a rematerializable value, which is computed once for each layout that is required of it.
#[derive(Debug, Clone)]
pub(crate) struct Remat {
    /// Whether the value's operation issues an instruction for each register; constants and shape operations do not.
    pub is_issued: bool,
    /// For each axis, the number of neighbouring elements that are equal or consecutive. One instruction serves them
    /// all, because accesses fold constant offsets into their address.
    pub together: Vec<u64>,
    /// The tensor operands of the value's operation, each with the layout transfer from the value's layout to the
    /// operand's.
    pub operands: Vec<(Value, TransferId)>,
}

/// The layout graph of a function: nodes that choose layouts, and the values whose layouts follow.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    /// The interner of layouts and layout transfers.
    pub interner: &'a Interner,
    /// All nodes, in program order.
    pub nodes: Vec<Node>,
    /// All dots, in program order.
    pub dots: Vec<DotNodes>,
    /// For each value index, the source of the value's layout.
    pub roles: Vec<Role>,
    /// For each value index, the properties for rematerializing the value; `None` for values that are not
    /// rematerialized.
    pub remats: Vec<Option<Remat>>,
    /// For each value index, whether a loop loads the value, or computes it elementwise from loaded values. If such a
    /// value passes through shared memory, software pipelining can prefetch it.
    pub is_loaded: Vec<bool>,
    /// For each value index, whether a loop loads or computes the value from loaded ones, and a dot of the loop depends
    /// on it. Software pipelining prefetches the loads among these values.
    pub reaches_dot: Vec<bool>,
    /// For each value index, the assumed number of executions of the value's definition, relative to code outside of
    /// loops.
    pub weights: Vec<f64>,
    /// For each value index, the number of bits of an element while it moves between threads or memories.
    pub bits: Vec<u32>,
    /// For each operation index, the layout that the operation requires of each operand.
    pub wants: Vec<Vec<RequiredLayout>>,
    /// For each value index, the nodes that require a layout of the value, each with the layout transfer from its key.
    pub users: Vec<Vec<(usize, TransferId)>>,
    /// For each value index, the nodes that take the value in any layout, but whose cost depends on its layout.
    pub watchers: Vec<Vec<usize>>,
}
