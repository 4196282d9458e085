//! Dots that accumulate into each other, and accumulators that a loop carries for them.

use std::collections::HashSet;

use crate::op::name::{tt, tw};
use crate::{Block, FunctionBody, Op, ValueOrigin, ValueUses};

/// Dots of a block in program order; the result of each but the last one only serves as the accumulator of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccumulationChain {
    /// The dots, the last one last.
    pub dots: Vec<Op>,
    /// The index of the loop-carried value that only serves as the accumulator of the first dot, and that the last dot
    /// yields. The index does not count the loop's counter. `None` if the loop carries no such value.
    pub carried: Option<usize>,
}

impl AccumulationChain {
    /// Finds the longest chain of dots of the block `block` that ends with the dot `last`.
    #[must_use]
    pub fn ending_with(body: &FunctionBody, block: Block, last: Op) -> Self {
        let uses = ValueUses::of_block(body, block);
        let inside: HashSet<Op> = body.ops(block).iter().copied().collect();
        let mut dots = vec![last];
        let before = |dot: &Op| find_accumulated_dot(body, &uses, *dot).filter(|before| inside.contains(before));
        while let Some(before) = dots.last().and_then(before) {
            dots.push(before);
        }
        let carried = dots.last().and_then(|first| carried_index(body, block, *first, last));
        dots.reverse();
        Self { dots, carried }
    }
}

/// Returns the index of the loop-carried value that only serves as the accumulator of `dot`; `None` if there is none.
///
/// The index does not count the loop's counter. The MMAs of such a dot may overlap with the next iteration.
#[must_use]
pub fn carried_accumulator_index(body: &FunctionBody, block: Block, dot: Op) -> Option<usize> {
    carried_index(body, block, dot, dot)
}

/// Returns the dot that makes the accumulator of `dot`, if nothing else uses its result.
pub(crate) fn find_accumulated_dot(body: &FunctionBody, uses: &ValueUses, dot: Op) -> Option<Op> {
    let operands = &body.op(dot).operands;
    let accumulator = *operands.get(2)?;
    let ValueOrigin::Result(before, _) = body.value_origin(accumulator) else { return None };
    let is_dot = matches!(body.op(before).name(), tw::MMA | tt::DOT);
    (is_dot && uses.is_only_user(dot, accumulator)).then_some(before)
}

fn carried_index(body: &FunctionBody, block: Block, first: Op, dot: Op) -> Option<usize> {
    let accumulator = body.op(first).operands.get(2).copied()?;
    let ValueOrigin::Argument(of, index @ 1..) = body.value_origin(accumulator) else { return None };
    let index = index as usize;
    let result = *body.op(dot).results.first()?;
    let last = *body.ops(block).last()?;
    let given = &body.op(last).operands;
    let is_carried = of == block
        && given.get(index - 1) == Some(&result)
        && given.iter().filter(|value| **value == result).count() == 1;
    let is_only_accumulator = || {
        let uses = ValueUses::of_block(body, block);
        uses.is_only_user(last, result) && uses.is_only_user(first, accumulator)
    };
    (is_carried && is_only_accumulator()).then_some(index - 1)
}
