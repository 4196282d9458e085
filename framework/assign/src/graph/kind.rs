//! What a choice of a layout is for, as far as its cost depends on the layout.

use crate::memory::{Named, moved_bits, named};
use tilewright_plan::movement::ScanDirection;
use tilewright_target::Direction;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::op::name::{math, tt};
use tilewright_tile::{Attribute, Body, Op, Operation, Value};

/// What one plain operation of a warp counts, in wavefront slots: as many are issued in the time of one wavefront.
pub(crate) const ISSUE: f64 = 0.25;

/// An access of global memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Access {
    /// What is known of the memory.
    pub named: Named,
    /// From memory, or to it.
    pub direction: Direction,
}

/// What a choice is for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// Nothing is done: values are carried on, or only their layout changes.
    Nothing,
    /// So many issues for each register.
    Elementwise(f64),
    /// Memory is accessed.
    Access(Access),
    /// A reduction along an axis of tensors with elements of these widths, each combining taking so many issues.
    Reduce(usize, Vec<u32>, f64),
    /// A scan likewise.
    Scan(usize, Vec<u32>, ScanDirection, f64),
    /// A gather along an axis from a tensor with elements of a width.
    Gather(usize, u32, Value),
    /// A product of matrices.
    Product,
}

impl Kind {
    /// An access of the memory that the pointers of an operation name.
    pub(crate) fn of_access(body: &Body, facts: &AxisInfoMap, op: Op, direction: Direction) -> Self {
        let pointers = body.operand(op, "ptr").or_else(|| body.operand(op, "src"));
        match pointers.and_then(|pointers| named(body, facts, pointers, body.operands(op, "mask"))) {
            // Atomic operations are those of single elements.
            Some(mut named) if body.op(op).name().starts_with("tt.atomic") => {
                named.tensor.alignment = u64::from(named.bits / 8);
                Self::Access(Access { named, direction })
            }
            Some(named) => Self::Access(Access { named, direction }),
            None => Self::Nothing,
        }
    }

    /// A reduction or a scan.
    pub(crate) fn along_an_axis(body: &Body, op: Op) -> Self {
        let operation = body.op(op);
        let number = |name: &str| operation.attributes.get(name).and_then(Attribute::as_integer);
        let axis = number("axis").and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
        let widths: Vec<u32> = operation.operands.iter().map(|value| moved_bits(body.ty(*value))).collect();
        let combining = operation.regions.first().map_or(0, |region| body.walk(*region).len().saturating_sub(1));
        let issues = ISSUE * combining as f64;
        if operation.name() != tt::SCAN {
            return Self::Reduce(axis, widths, issues);
        }
        let direction = if number("reverse") == Some(1) { ScanDirection::Down } else { ScanDirection::Up };
        Self::Scan(axis, widths, direction, issues)
    }

    /// An operation on each element. What takes a sequence of instructions is taken for eight of them.
    pub(crate) fn elementwise(operation: &Operation) -> Self {
        let long = ["arith.div", "arith.rem", "math.", "tt.precise", "tt.extern", "tt.approx"];
        let is_long = long.iter().any(|start| operation.name().starts_with(start)) && operation.name() != math::FMA;
        Self::Elementwise(if is_long { 8.0 * ISSUE } else { ISSUE })
    }

    /// Whether the layout is chosen for what the operation does, and not only for what is around it.
    pub(crate) fn is_anchor(&self) -> bool {
        matches!(self, Self::Access(_) | Self::Product)
    }
}
