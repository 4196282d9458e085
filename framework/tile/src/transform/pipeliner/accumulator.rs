//! Accumulators that a loop carries for one dot.

use crate::{Block, FunctionBody, Op, Value, ValueOrigin};

/// Returns the index of the loop-carried value that only serves as the accumulator of `dot`; `None` if there is none.
///
/// The index does not count the loop's counter. The MMAs of such a dot may overlap with the next iteration.
#[must_use]
pub fn carried_accumulator_index(body: &FunctionBody, block: Block, dot: Op) -> Option<usize> {
    let operation = body.op(dot);
    let accumulator = operation.operands.get(2).copied()?;
    let ValueOrigin::Argument(of, index @ 1..) = body.value_origin(accumulator) else { return None };
    let index = index as usize;
    let result = *operation.results.first()?;
    let all = body.walk_region(body.root());
    let users = |value: Value| all.iter().copied().filter(move |op| body.op(*op).operands.contains(&value));
    let last = *body.ops(block).last()?;
    let given = &body.op(last).operands;
    let is_carried = of == block
        && given.get(index - 1) == Some(&result)
        && given.iter().filter(|value| **value == result).count() == 1
        && users(result).eq([last])
        && users(accumulator).eq([dot]);
    is_carried.then_some(index - 1)
}
