//! Dead code elimination.

use crate::op::name::{scf, tt};
use crate::{Body, Op, TileModule};

/// Removes operations with unused results and without side effects, transitively. Loops and branches are removed if all
/// operations in them may be.
pub fn remove_unused(module: &mut TileModule) {
    module.functions.iter_mut().filter_map(|function| function.body.as_mut()).for_each(of_body);
}

fn of_body(body: &mut Body) {
    let all = body.walk(body.root());
    let mut uses = vec![0u32; body.value_count()];
    for operand in all.iter().flat_map(|op| &body.op(*op).operands) {
        uses[operand.index()] += 1;
    }
    let mut removed = vec![false; body.op_count()];
    // Revisit the definition of a value when its last use is removed.
    let mut requested = all;
    while let Some(op) = requested.pop() {
        let unused = body.op(op).results.iter().all(|value| uses[value.index()] == 0);
        if removed[op.index()] || !unused || !is_removable(body, op) {
            continue;
        }
        for nested in body.walk_op(op) {
            // A removed operation has no uses any more.
            if std::mem::replace(&mut removed[nested.index()], true) {
                continue;
            }
            for operand in &body.op(nested).operands {
                uses[operand.index()] -= 1;
                if let crate::ValueOrigin::Result(by, _) = body.origin(*operand) {
                    requested.push(by);
                }
            }
        }
    }
    let blocks: Vec<_> = regions(body).into_iter().flat_map(|region| body.blocks(region).to_vec()).collect();
    for block in blocks {
        let kept = body.ops(block).iter().copied().filter(|op| !removed[op.index()]).collect();
        body.set_ops(block, kept);
    }
}

/// Whether an operation has no effect besides its results. A loop that may not terminate counts as an effect.
fn is_removable(body: &Body, op: Op) -> bool {
    let operation = body.op(op);
    let traits = operation.definition.traits;
    if traits.terminator {
        return false;
    }
    match operation.name() {
        scf::IF | scf::FOR => body.walk_op(op).iter().skip(1).all(|inner| {
            let inner = body.op(*inner);
            inner.definition.traits.pure || matches!(inner.name(), scf::IF | scf::FOR)
        }),
        tt::EXTERN_ELEMENTWISE | tt::ELEMENTWISE_INLINE_ASM => {
            operation.attributes.get("pure").and_then(crate::Attribute::as_integer) == Some(1)
        }
        _ => traits.pure,
    }
}

fn regions(body: &Body) -> Vec<crate::Region> {
    let inner = body.walk(body.root());
    let inner = inner.iter().flat_map(|op| body.op(*op).regions.iter().copied());
    std::iter::once(body.root()).chain(inner).collect()
}
