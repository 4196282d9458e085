//! Where layouts begin: products by the instructions that carry them out, and copies to shared memory by global memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use tilewright_tile::op::name::{tt, tw};

use super::coalesce::{Coalesced, Threads, coalesced};
use super::{Options, SynthesisError};
use crate::LaunchConfig;
use crate::layouts::{in_order, name};
use crate::memory::{Named, named};
use crate::product::of_type;
use tilewright_layout::Dim;
use tilewright_plan::contract::{ContractError, ContractionCost, MmaProblem, candidates, plan};
use tilewright_plan::movement::{AxisStride as GlobalStride, GlobalTensor, MovementError, Rejected};
use tilewright_target::{MemoryOperand, Operand, Stride};
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::transform::explicit::{CopyChoice, Expanded, ProductChoice};
use tilewright_tile::{Attribute, Body, Op, TileType, Value, ValueOrigin};

/// Elements of K that a lane may hold side by side.
const WIDTHS: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Bits that such neighbours have together: those of a register at least, and at most those of the widest access, of the
/// narrowest elements that a factor is made of.
const LEAST_BITS: u64 = 32;
const MOST_BITS: u64 = 128;

/// A way to carry out a product.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// What is chosen.
    pub choice: ProductChoice,
    /// What the plan says that it costs.
    pub cost: ContractionCost,
}

/// The ways to carry out a `tw.mma`, the fastest first: with both factors in registers, or read from shared memory where they
/// lie there.
pub(super) fn of_product(body: &Body, op: Op, machine: &LaunchConfig<'_>) -> Result<Vec<Way>, SynthesisError> {
    let operation = body.op(op);
    let explicit = operation.attributes.get("instruction").and_then(Attribute::as_text);
    let named = body.name(operation.results[0]).map_or_else(|| "a product".to_owned(), |name| format!("%{name}"));
    let wrong = |source| SynthesisError::Product { operation: named.clone(), source };
    let types = [0, 1, 2].map(|operand| body.ty(operation.operands[operand]));
    let shape = |operand: usize| types[operand].shape().unwrap_or_default();
    let [Some(a), Some(b), Some(c)] = types.map(|ty| of_type(ty.element())) else {
        let reasons = format!("no product has factors of `{}` and `{}`", types[0].element(), types[1].element());
        return Err(wrong(ContractError::Impossible { reasons }));
    };
    let sizes = [shape(2)[0], shape(2)[1], shape(0)[1]];
    let problem = MmaProblem::new(sizes, [a, b, c], machine.lanes, machine.warps);
    let problem = MmaProblem { unit: explicit.map(str::to_owned), ..problem };
    let (weighed, refused) = candidates(&problem, machine.context).map_err(wrong)?;
    let slice = Slice::of(body, op);
    let lies = [0, 1].map(|side| lies_in_shared(body, op, operation.operands[side]));
    let explicit_width = operation.attributes.get("kWidth").and_then(Attribute::as_integer).map(|width| width as u64);
    let explicit_columns = operation.attributes.get("nWidth").and_then(Attribute::as_integer).map(|width| width as u64);
    let problem = MmaProblem { n_width: explicit_columns, ..problem };
    let bits = u64::from(a.bits().max(b.bits()));
    let usual = |width: u64| width * bits >= LEAST_BITS && (width == 1 || width * slice.narrowest <= MOST_BITS);
    let widths: Vec<u64> = WIDTHS
        .into_iter()
        .filter(|&width| explicit_width.map_or_else(|| usual(width), |explicit| explicit == width))
        .collect();
    // What is best where warps keep rows may be worse where they do not.
    let chained = MmaProblem { chained: true, linked: true, ..problem.clone() };
    let in_chain =
        if slice.from_product { candidates(&chained, machine.context).map_err(wrong)?.0 } else { Vec::new() };
    let in_chain = in_chain.first().map(|best| best.unit.clone());
    let mut found: Vec<Way> = Vec::new();
    let mut kept: Vec<(ContractionCost, ReadAlong<'_>)> = Vec::new();
    for candidate in weighed {
        let known = found.iter().any(|way| way.choice.instruction.as_deref() == Some(&candidate.unit));
        // A row that costs more is of use where it reads memory that others do not.
        let read = read_along(&candidate.unit, machine);
        let beaten = kept.iter().any(|(cost, others)| *others == read && is_as_good(cost, &candidate.cost));
        if known || beaten && in_chain.as_ref() != Some(&candidate.unit) {
            continue;
        }
        let way = |k_width: Option<u64>| {
            let (cost, in_place) = reached(&problem, &candidate.unit, k_width, lies, machine)?;
            let instruction = Some(Arc::from(&*candidate.unit));
            let choice = ProductChoice { instruction, k_width, n_width: explicit_columns, whole_rows: false, in_place };
            Some(Way { choice, cost })
        };
        // Neighbours along K are a matter of registers.
        let by_unit = way(None).filter(|way| way.choice.in_place == [true, true]);
        let by_width = |width: &u64| if by_unit.is_some() { None } else { way(Some(*width)) };
        let mut ways: Vec<Way> = by_unit.clone().into_iter().chain(widths.iter().filter_map(by_width)).collect();
        if ways.is_empty() && explicit_width.is_none() {
            // Lanes share out K, so that none has neighbours: as the instruction has it.
            ways.extend(way(None));
        }
        if !ways.is_empty() {
            kept.push((candidate.cost, read));
        }
        found.extend(ways);
    }
    if slice.rearranged && slice.narrowest < 8 && explicit_columns.is_none() {
        // Elements of one byte may be neighbours along N: a lane has both.
        let beside = MmaProblem { n_width: Some(8 / slice.narrowest), ..problem.clone() };
        let in_byte = |way: &Way| {
            let unit = way.choice.instruction.as_deref().unwrap_or_default();
            let (cost, in_place) = reached(&beside, unit, way.choice.k_width, lies, machine)?;
            let choice = ProductChoice { n_width: beside.n_width, in_place, ..way.choice.clone() };
            Some(Way { choice, cost })
        };
        let more: Vec<Way> = found.iter().filter_map(in_byte).collect();
        found.extend(more);
    }
    if slice.from_product {
        // Rows that another product's warps have stay theirs, or warps are shared out as this one likes it.
        let whole = |way: &Way| {
            let choice = ProductChoice { whole_rows: true, ..way.choice.clone() };
            let unit = choice.instruction.as_deref().unwrap_or_default();
            // Where warps cannot keep rows the product is shared out as this one likes it, and costs what it does so.
            let found = reached(&chained, unit, choice.k_width, lies, machine);
            let (cost, in_place) = found.unwrap_or((way.cost, way.choice.in_place));
            Way { choice: ProductChoice { in_place, ..choice }, cost }
        };
        let rows: Vec<Way> = found.iter().map(whole).collect();
        found.splice(0..0, rows);
    }
    if found.is_empty() {
        return Err(wrong(ContractError::Impossible { reasons: Rejected::summary(&refused) }));
    }
    Ok(found)
}

/// Factors, each with the axis along which elements lie side by side in shared memory.
type ReadAlong<'m> = Vec<(&'m str, Option<usize>)>;

/// The factors that a row reads from shared memory by itself.
fn read_along<'m>(row: &str, machine: &LaunchConfig<'m>) -> ReadAlong<'m> {
    let row = machine.context.instructions.iter().find(|own| own.name == row);
    let memory = row.into_iter().flat_map(|row| &row.operands).filter_map(|operand| match operand {
        Operand::Memory(memory) => Some(memory),
        _ => None,
    });
    let along = |memory: &MemoryOperand| {
        let beside = Stride::Bytes(u64::from(memory.bits / 8));
        let first = memory.arrangements.first()?;
        first.axes.iter().position(|steps| steps.first().is_some_and(|step| step.stride == beside))
    };
    memory.map(|memory| (memory.role.as_str(), along(memory))).collect()
}

/// Whether a way is at least as good as another in all that is counted.
fn is_as_good(one: &ContractionCost, other: &ContractionCost) -> bool {
    one.cycles() <= other.cycles() && one.issues <= other.issues
}

/// What a unit costs with so many elements of K side by side where it is said, and which factors it reads from shared memory,
/// where it reads none that does not lie there.
fn reached(
    problem: &MmaProblem,
    unit: &str,
    width: Option<u64>,
    lies: [bool; 2],
    machine: &LaunchConfig<'_>,
) -> Option<(ContractionCost, [bool; 2])> {
    let pinned = MmaProblem { unit: Some(unit.to_owned()), k_width: width.or(problem.k_width), ..problem.clone() };
    let plan = plan(&pinned, machine.context).ok()?;
    let in_place = [&plan.a, &plan.b].map(|factor| factor.ins().contains(Dim::OFFSET));
    let fits = in_place.iter().zip(lies).all(|(required, lies)| lies || !required);
    // Arrangements are those of all of K.
    let as_it_is = plan.chunks() == 1 || in_place == [false, false];
    (fits && as_it_is).then_some((plan.cost, in_place))
}

/// Whether a factor lies in shared memory as it is: so that a product may read it there, where a copy to registers that nothing
/// else uses stands before it, and nothing between them fills the tensor again.
fn lies_in_shared(body: &Body, product: Op, factor: Value) -> bool {
    if matches!(body.ty(factor), TileType::Memory(_)) {
        return true;
    }
    let ValueOrigin::Result(copy, _) = body.origin(factor) else { return false };
    let operation = body.op(copy);
    let tensor = operation.operands.first().copied().filter(|_| operation.name() == tw::COPY);
    let Some(tensor) = tensor.filter(|tensor| matches!(body.ty(*tensor), TileType::Memory(_))) else { return false };
    let is_explicit = operation.attributes.get("instruction").is_some() || body.ty(factor).layout().is_some();
    let all = body.walk(body.root());
    let uses = all.iter().flat_map(|op| &body.op(*op).operands).filter(|value| **value == factor);
    let place = |required: Op| all.iter().position(|op| *op == required);
    let (Some(from), Some(to)) = (place(copy), place(product)) else { return false };
    let between = all.get(from + 1..to).unwrap_or_default();
    let undisturbed = between.iter().all(|op| {
        body.operand(*op, "dst").filter(|_| body.op(*op).name() == tw::COPY) != Some(tensor)
            && body.op(*op).regions.is_empty()
            && !body.op(*op).definition.traits.terminator
    });
    !is_explicit && uses.count() == 1 && undisturbed
}

/// What the factors of a product are made of, each element by itself.
struct Slice {
    /// Bits of the narrowest elements.
    narrowest: u64,
    /// Whether another product gives some.
    from_product: bool,
    /// Whether the program puts elements at other places, in registers.
    rearranged: bool,
}

impl Slice {
    fn of(body: &Body, op: Op) -> Self {
        let mut slice = Self { narrowest: u64::MAX, from_product: false, rearranged: false };
        let mut open: Vec<Value> = body.op(op).operands[..2].to_vec();
        let mut seen: BTreeSet<Value> = BTreeSet::new();
        while let Some(value) = open.pop() {
            let ty = body.ty(value);
            if !seen.insert(value) || ty.shape().is_none() {
                continue;
            }
            slice.narrowest = slice.narrowest.min(u64::from(ty.element_bits().unwrap_or(32)).max(2));
            let ValueOrigin::Result(made, _) = body.origin(value) else { continue };
            let operation = body.op(made);
            match operation.name() {
                tw::MMA => slice.from_product = true,
                tw::CAST => open.extend(&operation.operands),
                tt::TRANS | tt::RESHAPE => {
                    slice.rearranged = true;
                    open.extend(&operation.operands);
                }
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
    facts: &AxisInfoMap,
    made: Op,
    machine: &LaunchConfig<'_>,
    options: Options,
) -> Result<CopyChoice, SynthesisError> {
    let Some(body) = &expanded.function.body else { return Ok(CopyChoice::default()) };
    let pointers = body.op(made).operands[0];
    let masks: Vec<Value> = body.operands(made, "mask").to_vec();
    let Some(named) = named(body, facts, pointers, &masks) else { return Ok(CopyChoice::default()) };
    let found = mapped(&named, machine, options)?;
    let bytes = found.vector_elements * u64::from(named.bits / 8);
    Ok(CopyChoice { layout: Some(name(&in_order(&found.layout)?)), bytes: Some(bytes), through_registers: false })
}

/// Who copies what of a tensor in global memory.
pub(super) fn mapped(named: &Named, machine: &LaunchConfig<'_>, options: Options) -> Result<Coalesced, MovementError> {
    let threads = Threads { lanes: machine.lanes.into(), warps: machine.warps.into() };
    let tensor = if options.task_mapping { named.tensor.clone() } else { apart(&named.tensor) };
    coalesced(&tensor, named.bits, threads, None, machine.context.target)
}

/// The same tensor as if nothing followed anything.
fn apart(tensor: &GlobalTensor) -> GlobalTensor {
    let axes = tensor.axes.iter().map(|&(dim, size, _)| (dim, size, GlobalStride::MultipleOf(1))).collect();
    GlobalTensor { axes, alignment: 1 }
}
