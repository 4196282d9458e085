//! Where layouts begin: products by the instructions that carry them out, and copies to shared memory by global memory.

use std::sync::Arc;

use super::{Options, SynthesisError};
use crate::contract::{Question, candidates, plan};
use crate::engine::Machine;
use crate::engine::facts::Facts;
use crate::engine::layouts::name;
use crate::engine::memory::named;
use crate::engine::product::of_type;
use crate::layout::{Dim, LinearLayout};
use crate::movement::{GlobalTensor, MovementError, Stride, coalesced_layout};
use crate::tile::transform::explicit::{CopyChoice, Expanded, ProductChoice};
use crate::tile::{Attribute, Body, Op, Value};

/// Instructions of a product that are tried, the fastest first.
const INSTRUCTIONS: usize = 2;

/// The ways to carry out a `tw.mma` with both factors in registers, the fastest first.
pub(super) fn of_product(body: &Body, op: Op, machine: &Machine<'_>) -> Result<Vec<ProductChoice>, SynthesisError> {
    let operation = body.op(op);
    let said = operation.attributes.get("instruction").and_then(Attribute::as_text);
    let named = body.name(operation.results[0]).map_or_else(|| "a product".to_owned(), |name| format!("%{name}"));
    let wrong = |source| SynthesisError::Product { operation: named.clone(), source };
    let types = [0, 1, 2].map(|operand| body.ty(operation.operands[operand]));
    let shape = |operand: usize| types[operand].shape().unwrap_or_default();
    let numbers = types.map(|ty| of_type(ty.element()));
    let [Some(a), Some(b), Some(c)] = numbers else {
        let reasons = format!("no product has factors of `{}` and `{}`", types[0].element(), types[1].element());
        return Err(wrong(crate::contract::ContractError::Impossible { reasons }));
    };
    let sizes = [shape(2)[0], shape(2)[1], shape(0)[1]];
    let question = Question::new(sizes, [a, b, c], machine.lanes, machine.warps);
    let question = Question { unit: said.map(str::to_owned), ..question };
    let (weighed, refused) = candidates(&question, machine.means).map_err(wrong)?;
    let mut found: Vec<ProductChoice> = Vec::new();
    for candidate in weighed {
        let known = found.iter().any(|choice| choice.instruction.as_deref() == Some(&candidate.unit));
        if known || found.len() == INSTRUCTIONS {
            continue;
        }
        let pinned = Question { unit: Some(candidate.unit.clone()), ..question.clone() };
        let Ok(plan) = plan(&pinned, machine.means) else { continue };
        if [&plan.a, &plan.b].iter().all(|factor| !factor.ins().contains(Dim::OFFSET)) {
            found.push(ProductChoice { instruction: Some(Arc::from(candidate.unit)), k_width: None });
        }
    }
    if found.is_empty() {
        let reasons = refused.iter().map(|one| format!("{}: {}", one.unit, one.reason)).collect::<Vec<_>>().join("; ");
        return Err(wrong(crate::contract::ContractError::Impossible { reasons }));
    }
    Ok(found)
}

/// Who copies what from global to shared memory, so that neighbours in memory are copied by neighbours and accesses are as wide
/// as facts allow.
pub(super) fn of_copy(
    expanded: &Expanded,
    facts: &Facts,
    made: Op,
    machine: &Machine<'_>,
    options: Options,
) -> Result<CopyChoice, SynthesisError> {
    let Some(body) = &expanded.function.body else { return Ok(CopyChoice::default()) };
    let pointers = body.op(made).operands[0];
    let masks: Vec<Value> = body.operands(made, "mask").to_vec();
    let Some(named) = named(body, facts, pointers, &masks) else { return Ok(CopyChoice::default()) };
    let tensor = if options.task_mapping { named.tensor } else { apart(&named.tensor) };
    let layout = mapped(&tensor, named.bits, machine)?;
    Ok(CopyChoice { layout: Some(name(&layout)), through_registers: false })
}

fn mapped(tensor: &GlobalTensor, bits: u32, machine: &Machine<'_>) -> Result<LinearLayout, MovementError> {
    coalesced_layout(tensor, bits, machine.lanes.into(), machine.warps.into(), machine.means.target)
}

/// The same tensor as if nothing followed anything.
fn apart(tensor: &GlobalTensor) -> GlobalTensor {
    let axes = tensor.axes.iter().map(|&(dim, size, _)| (dim, size, Stride::MultipleOf(1))).collect();
    GlobalTensor { axes, alignment: 1 }
}
