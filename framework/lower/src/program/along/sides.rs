//! Whether a combination gives the same bits whichever of its sides is first.

use std::collections::HashMap;

use tilewright_tile::{Block, Body, Operation, Value};

/// What an operation is, and the numbers of what it works on.
type Term = (String, Vec<usize>);

/// Whether the block's terms are others when its first half of arguments and its second change places; terms that stand in regions
/// may be. It may round otherwise then, as Welford's sums do, or take the other of two that are alike, or not to be compared.
pub(super) fn depends_on_order(body: &Body, block: Block) -> bool {
    let arguments = body.arguments(block);
    let half = arguments.len() / 2;
    let swapped = [&arguments[half..], &arguments[..half]].concat();
    let mut terms = HashMap::new();
    body.ops(block).iter().any(|op| !body.op(*op).regions.is_empty())
        || given(body, block, arguments, &mut terms) != given(body, block, &swapped, &mut terms)
}

/// The numbers of what the block gives, where these arguments have the first numbers in this order.
fn given(body: &Body, block: Block, arguments: &[Value], terms: &mut HashMap<Term, usize>) -> Vec<usize> {
    let mut numbers: HashMap<Value, usize> =
        arguments.iter().enumerate().map(|(number, argument)| (*argument, number)).collect();
    let mut last = Vec::new();
    for op in body.ops(block) {
        let operation = body.op(*op);
        // What is from outside is the same on both sides.
        let number = |value: &Value| numbers.get(value).copied().unwrap_or(usize::MAX - value.index());
        last = operation.operands.iter().map(number).collect();
        let number = numbered(operation, last.clone(), arguments.len(), terms);
        numbers.extend(operation.results.iter().enumerate().map(|(place, result)| (*result, number + place)));
    }
    last
}

/// The number of what an operation gives first; the same for the same.
fn numbered(operation: &Operation, mut of: Vec<usize>, arguments: usize, terms: &mut HashMap<Term, usize>) -> usize {
    if operation.definition.traits.commutative {
        of.sort_unstable();
    }
    // Numbers are far enough apart for all results of an operation.
    let next = arguments + (terms.len() << 8);
    let name = format!("{} {:?}", operation.name(), operation.attributes);
    *terms.entry((name, of)).or_insert(next)
}
