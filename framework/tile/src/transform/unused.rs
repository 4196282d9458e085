//! Operations whose results nobody uses and that do nothing else.

use crate::op::name::{scf, tt};
use crate::{Body, Op, TileModule};

/// Takes out operations whose results are not used, where they do nothing but give them. What only such operations
/// use goes too. Loops and branches go where all within them may.
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
    // What defines a value is asked again when its last use goes.
    let mut requested = all;
    while let Some(op) = requested.pop() {
        let unused = body.op(op).results.iter().all(|value| uses[value.index()] == 0);
        if removed[op.index()] || !unused || !may_go(body, op) {
            continue;
        }
        for gone in body.nested(op) {
            // What went before no longer uses anything.
            if std::mem::replace(&mut removed[gone.index()], true) {
                continue;
            }
            for operand in &body.op(gone).operands {
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

/// Whether an operation does nothing but give its results. A loop that may never end is not gone round, so it stays.
fn may_go(body: &Body, op: Op) -> bool {
    let operation = body.op(op);
    let traits = operation.definition.traits;
    if traits.terminator {
        return false;
    }
    match operation.name() {
        scf::IF | scf::FOR => body.nested(op).iter().skip(1).all(|inner| {
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
