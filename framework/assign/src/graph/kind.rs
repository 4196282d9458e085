//! Kinds of layout-graph nodes, by how the cost of a node depends on the layout.

use crate::bulk_store::BulkBlock;
use crate::equal_elements::EqualElements;
use crate::memory::{PointerMemory, describe_pointer_memory, element_bits_while_moved, find_vector_update_bits};
use tilewright_plan::movement::ScanDirection;
use tilewright_target::{Direction, TargetDescription};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::name::{arith, math, tt};
use tilewright_tile::{Attribute, FunctionBody, Op, Operation, Value};

/// The properties of a global-memory access that determine its cost in a layout.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Access {
    /// The accessed memory as AxisInfo describes it: strides, contiguity and alignment.
    pub named: PointerMemory,
    /// The direction of the access: load or store.
    pub direction: Direction,
    /// The tensor descriptor's block if a bulk tensor copy may store it; `None` otherwise.
    pub bulk_block: Option<BulkBlock>,
}

/// The kind of a layout-graph node, which determines its cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// No cost: a carried value, or an operation that only changes the layout.
    Nothing,
    /// An elementwise operation: the number of instructions that it issues for each register, and the index bits whose
    /// registers it computes once.
    Elementwise(f64, EqualElements),
    /// A global-memory access, with the accessed memory and the direction.
    Access(Access),
    /// A reduction: its axis, the number of bits of an element of each operand, and the number of instructions that
    /// combine two elements.
    Reduce(usize, Vec<u32>, f64),
    /// A scan: its axis, the number of bits of an element of each operand, its direction, and the number of
    /// instructions that combine two elements.
    Scan(usize, Vec<u32>, ScanDirection, f64),
    /// A gather: its axis, the number of bits of an element, and the source tensor.
    Gather(usize, u32, Value),
    /// An operand or the result of a dot; the cost of the dot does not depend on the node's layout.
    Dot,
}

impl Kind {
    /// Returns the kind [`Kind::Access`] for the accesses through the pointers of an operation; `Nothing` if the
    /// operation has no tensor of pointers.
    pub(crate) fn of_access(
        (body, axis_info): (&FunctionBody, &AxisInfoMap),
        target: &TargetDescription,
        op: Op,
        direction: Direction,
    ) -> Self {
        let pointers = body.operand(op, "ptr").or_else(|| body.operand(op, "src"));
        let sufficient = target.global.sufficient_alignment();
        match pointers.and_then(|pointers| {
            describe_pointer_memory(body, axis_info, pointers, body.operands(op, "mask"), sufficient)
        }) {
            // Atomic operations access single elements, or the vectors that the target updates at once.
            Some(mut named) if body.op(op).name().starts_with("tt.atomic") => {
                let widest = find_vector_update_bits(body, op, target).iter().fold(named.bits, |a, &b| a.max(b));
                named.tensor.max_access_bytes = named.tensor.alignment.min(u64::from(widest / 8));
                Self::Access(Access { named, direction, bulk_block: None })
            }
            // Only plain loads share the element that they load.
            Some(mut named) => {
                if body.op(op).name() != tt::LOAD {
                    named.equal = EqualElements::default();
                }
                Self::Access(Access { named, direction, bulk_block: None })
            }
            None => Self::Nothing,
        }
    }

    /// Returns the kind of a `tt.reduce` or `tt.scan`.
    pub(crate) fn along_an_axis(body: &FunctionBody, op: Op) -> Self {
        let operation = body.op(op);
        let integer = |name: &str| operation.attributes.get(name).and_then(Attribute::as_integer);
        let axis = integer("axis").and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
        let widths: Vec<u32> =
            operation.operands.iter().map(|value| element_bits_while_moved(body.value_type(*value))).collect();
        let combining = operation.regions.first().map_or(0, |region| body.walk_region(*region).len().saturating_sub(1));
        let instructions = combining as f64;
        if operation.name() != tt::SCAN {
            return Self::Reduce(axis, widths, instructions);
        }
        let direction = if integer("reverse") == Some(1) { ScanDirection::Reverse } else { ScanDirection::Forward };
        Self::Scan(axis, widths, direction, instructions)
    }

    /// Returns the kind of an elementwise operation. Operations that expand to a sequence count as eight instructions.
    /// Elements that are equal by axis information are computed once; for a remainder, elements at known distances
    /// too.
    pub(crate) fn elementwise((body, axis_info): (&FunctionBody, &AxisInfoMap), operation: &Operation) -> Self {
        let long = ["arith.div", "arith.rem", "math.", "tt.precise", "tt.extern", "tt.approx"];
        let is_long = long.iter().any(|start| operation.name().starts_with(start)) && operation.name() != math::FMA;
        let is_remainder = [arith::REMSI, arith::REMUI].contains(&operation.name());
        let equal = match operation.results[..] {
            [result] => body.value_type(result).shape().zip(axis_info.get_proven(result)).map(|(shape, info)| {
                EqualElements::find(shape, |at| info.bit_step(at).is_some_and(|step| is_remainder || step == 0))
            }),
            _ => None,
        };
        Self::Elementwise(if is_long { 8.0 } else { 1.0 }, equal.unwrap_or_default())
    }

    /// Whether the node is an anchor: its operation prefers a layout of its own, instead of following its neighbours.
    pub(crate) fn is_anchor(&self) -> bool {
        matches!(self, Self::Access(_) | Self::Dot)
    }
}
