//! Where layouts begin: products by the instructions that carry them out, and copies to shared memory by global memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Options, SynthesisError};
use crate::contract::{ContractError, ContractionCost, Question, candidates, plan};
use crate::engine::Machine;
use crate::engine::facts::Facts;
use crate::engine::layouts::{in_order, name};
use crate::engine::memory::named;
use crate::engine::product::of_type;
use crate::layout::{Dim, LinearLayout};
use crate::movement::{GlobalTensor, MovementError, Stride, access_global, coalesced_layout};
use crate::target::Direction;
use crate::tile::transform::explicit::{CopyChoice, Expanded, ProductChoice};
use crate::tile::{Attribute, Body, Op, Origin, Value};

/// Elements of K that a lane may hold side by side.
const WIDTHS: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Bits that such neighbours have together: those of a register at least, and at most those of the widest access, of the
/// narrowest elements that a factor is made of.
const LEAST_BITS: u64 = 32;
const MOST_BITS: u64 = 128;

/// The ways to carry out a `tw.mma` with both factors in registers, the fastest first.
pub(super) fn of_product(body: &Body, op: Op, machine: &Machine<'_>) -> Result<Vec<ProductChoice>, SynthesisError> {
    let operation = body.op(op);
    let said = operation.attributes.get("instruction").and_then(Attribute::as_text);
    let named = body.name(operation.results[0]).map_or_else(|| "a product".to_owned(), |name| format!("%{name}"));
    let wrong = |source| SynthesisError::Product { operation: named.clone(), source };
    let types = [0, 1, 2].map(|operand| body.ty(operation.operands[operand]));
    let shape = |operand: usize| types[operand].shape().unwrap_or_default();
    let [Some(a), Some(b), Some(c)] = types.map(|ty| of_type(ty.element())) else {
        let reasons = format!("no product has factors of `{}` and `{}`", types[0].element(), types[1].element());
        return Err(wrong(ContractError::Impossible { reasons }));
    };
    let sizes = [shape(2)[0], shape(2)[1], shape(0)[1]];
    let question = Question::new(sizes, [a, b, c], machine.lanes, machine.warps);
    let question = Question { unit: said.map(str::to_owned), ..question };
    let (weighed, refused) = candidates(&question, machine.means).map_err(wrong)?;
    let slice = Slice::of(body, op);
    let said_width = operation.attributes.get("kWidth").and_then(Attribute::as_integer).map(|width| width as u64);
    let bits = u64::from(a.bits().max(b.bits()));
    let usual = |width: u64| width * bits >= LEAST_BITS && (width == 1 || width * slice.narrowest <= MOST_BITS);
    let widths: Vec<u64> =
        WIDTHS.into_iter().filter(|&width| said_width.map_or_else(|| usual(width), |said| said == width)).collect();
    // What is best where warps keep rows may be worse where they do not.
    let chained = Question { chained: true, linked: true, ..question.clone() };
    let in_chain = if slice.from_product { candidates(&chained, machine.means).map_err(wrong)?.0 } else { Vec::new() };
    let in_chain = in_chain.first().map(|best| best.unit.clone());
    let mut found: Vec<ProductChoice> = Vec::new();
    let mut kept: Vec<ContractionCost> = Vec::new();
    for candidate in weighed {
        let known = found.iter().any(|choice| choice.instruction.as_deref() == Some(&candidate.unit));
        let beaten = kept.iter().any(|cost| is_as_good(cost, &candidate.cost));
        if known || beaten && in_chain.as_ref() != Some(&candidate.unit) {
            continue;
        }
        let fits = |width: &Option<u64>| in_registers(&question, &candidate.unit, *width, machine);
        let way = |k_width: Option<u64>| ProductChoice {
            instruction: Some(Arc::from(&*candidate.unit)),
            k_width,
            whole_rows: false,
        };
        let mut ways: Vec<ProductChoice> = widths.iter().map(|&width| Some(width)).filter(fits).map(way).collect();
        if ways.is_empty() && said_width.is_none() && fits(&None) {
            // Lanes share out K, so that none has neighbours: as the instruction has it.
            ways.push(way(None));
        }
        if !ways.is_empty() {
            kept.push(candidate.cost);
        }
        found.extend(ways);
    }
    if slice.from_product {
        // Rows that another product's warps have stay theirs, or warps are shared out as this one likes it.
        let rows: Vec<ProductChoice> =
            found.iter().map(|choice| ProductChoice { whole_rows: true, ..choice.clone() }).collect();
        found.splice(0..0, rows);
    }
    if found.is_empty() {
        let reasons = refused.iter().map(|one| format!("{}: {}", one.unit, one.reason)).collect::<Vec<_>>().join("; ");
        return Err(wrong(ContractError::Impossible { reasons }));
    }
    Ok(found)
}

/// Whether a way is at least as good as another in all that is counted.
fn is_as_good(one: &ContractionCost, other: &ContractionCost) -> bool {
    one.cycles() <= other.cycles() && one.issues <= other.issues
}

/// Whether a unit takes both factors from registers, with so many elements of K side by side where it is said.
fn in_registers(question: &Question, unit: &str, width: Option<u64>, machine: &Machine<'_>) -> bool {
    let pinned = Question { unit: Some(unit.to_owned()), k_width: width.or(question.k_width), ..question.clone() };
    let Ok(plan) = plan(&pinned, machine.means) else { return false };
    [&plan.a, &plan.b].iter().all(|factor| !factor.ins().contains(Dim::OFFSET))
}

/// What the factors of a product are made of, each element by itself.
struct Slice {
    /// Bits of the narrowest elements.
    narrowest: u64,
    /// Whether another product gives some.
    from_product: bool,
}

impl Slice {
    fn of(body: &Body, op: Op) -> Self {
        let mut slice = Self { narrowest: u64::MAX, from_product: false };
        let mut open: Vec<Value> = body.op(op).operands[..2].to_vec();
        let mut seen: BTreeSet<Value> = BTreeSet::new();
        while let Some(value) = open.pop() {
            let ty = body.ty(value);
            if !seen.insert(value) || ty.shape().is_none() {
                continue;
            }
            slice.narrowest = slice.narrowest.min(u64::from(ty.element_bits().unwrap_or(32)).max(2));
            let Origin::Result(made, _) = body.origin(value) else { continue };
            let operation = body.op(made);
            match operation.name() {
                "tw.mma" => slice.from_product = true,
                "tw.cast" => open.extend(&operation.operands),
                _ if operation.definition.traits.elementwise => open.extend(&operation.operands),
                _ => {}
            }
        }
        slice
    }
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
    let plan = access_global(&layout, &tensor, named.bits, Direction::Load, machine.means.target)?;
    let bytes = plan.vector_elements * u64::from(named.bits / 8);
    Ok(CopyChoice { layout: Some(name(&in_order(&layout)?)), bytes: Some(bytes), through_registers: false })
}

fn mapped(tensor: &GlobalTensor, bits: u32, machine: &Machine<'_>) -> Result<LinearLayout, MovementError> {
    coalesced_layout(tensor, bits, machine.lanes.into(), machine.warps.into(), machine.means.target)
}

/// The same tensor as if nothing followed anything.
fn apart(tensor: &GlobalTensor) -> GlobalTensor {
    let axes = tensor.axes.iter().map(|&(dim, size, _)| (dim, size, Stride::MultipleOf(1))).collect();
    GlobalTensor { axes, alignment: 1 }
}
