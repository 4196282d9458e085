//! The values that one launch gives to a function: program ids, and arguments that are integers.

use super::{AxisInfo, IntegerRange};
use crate::op::name::tt;
use crate::{Attribute, FunctionBody, Op, TileType};

/// The grid of a launch, and its integer arguments. By default nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchValues {
    /// Number of programs along x, y and z; zero if it is unknown.
    pub grid: [u64; 3],
    /// The arguments in order; `None` for pointers and floating-point numbers.
    pub arguments: Vec<Option<i64>>,
}

impl LaunchValues {
    /// Returns the axis information of an argument; `None` if it is not an integer.
    pub(super) fn argument(&self, index: usize, ty: &TileType) -> Option<AxisInfo> {
        let value = self.arguments.get(index).copied().flatten()?;
        matches!(ty, TileType::Integer(..)).then(|| AxisInfo::constant(value, ty))
    }

    /// Returns the axis information of a program id or of the number of programs along an axis; `None` for other
    /// operations.
    pub(super) fn of_grid(&self, body: &FunctionBody, op: Op) -> Option<AxisInfo> {
        let operation = body.op(op);
        let is_count = operation.name() == tt::GET_NUM_PROGRAMS;
        if !is_count && operation.name() != tt::GET_PROGRAM_ID {
            return None;
        }
        let axis = operation.attributes.get("axis").and_then(Attribute::as_text)?;
        let axis = ["x", "y", "z"].iter().position(|name| *name == axis)?;
        let count = i64::try_from(self.grid[axis]).ok().filter(|count| *count > 0)?;
        let ty = body.value_type(*operation.results.first()?);
        match is_count {
            true => Some(AxisInfo::constant(count, ty)),
            false => Some(AxisInfo { range: IntegerRange::between(0, count - 1), ..AxisInfo::unknown(ty) }),
        }
    }
}
