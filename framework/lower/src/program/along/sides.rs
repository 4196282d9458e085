//! Decides whether the combination of a reduction or scan is bitwise commutative.

use std::collections::HashMap;

use tilewright_tile::{Block, FunctionBody, Operation, Value};

/// A key of value numbering: the name of an operation with its attributes, and the value numbers of its operands.
type Term = (String, Vec<usize>);

/// Whether the block may compute other bits if the two halves of its arguments are swapped. Value numbering decides
/// whether it computes the same terms; blocks with nested regions always count as different. With other terms, the
/// combination may round differently (as Welford's algorithm does), or select the other one of two equal or unordered
/// elements.
pub(super) fn depends_on_order(body: &FunctionBody, block: Block) -> bool {
    let arguments = body.arguments(block);
    let half = arguments.len() / 2;
    let swapped = [&arguments[half..], &arguments[..half]].concat();
    let mut terms = HashMap::new();
    body.ops(block).iter().any(|op| !body.op(*op).regions.is_empty())
        || given(body, block, arguments, &mut terms) != given(body, block, &swapped, &mut terms)
}

/// Returns the value numbers of the operands of the block's terminator. The block's arguments have the value numbers 0,
/// 1, ... in the order of `arguments`.
fn given(body: &FunctionBody, block: Block, arguments: &[Value], terms: &mut HashMap<Term, usize>) -> Vec<usize> {
    let mut numbers: HashMap<Value, usize> =
        arguments.iter().enumerate().map(|(index, argument)| (*argument, index)).collect();
    let mut last = Vec::new();
    for op in body.ops(block) {
        let operation = body.op(*op);
        // A value from outside the block has the same number for both orders of the arguments.
        let index = |value: &Value| numbers.get(value).copied().unwrap_or(usize::MAX - value.index());
        last = operation.operands.iter().map(index).collect();
        let index = numbered(operation, last.clone(), arguments.len(), terms);
        numbers.extend(operation.results.iter().enumerate().map(|(position, result)| (*result, index + position)));
    }
    last
}

/// Returns the value number of an operation's first result; operations with equal keys have equal numbers. `of` has the
/// value numbers of the operands, and `arguments` is the number of the block's arguments.
fn numbered(operation: &Operation, mut of: Vec<usize>, arguments: usize, terms: &mut HashMap<Term, usize>) -> usize {
    if operation.definition.traits.commutative {
        of.sort_unstable();
    }
    // The numbers of different keys are 256 apart, so that further results of an operation get the numbers that follow.
    let next = arguments + (terms.len() << 8);
    let name = format!("{} {:?}", operation.name(), operation.attributes);
    *terms.entry((name, of)).or_insert(next)
}
