//! The anchors of synthesis, from which other layouts follow: the instructions of dots, and the coalesced layouts of
//! copies from global memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use tilewright_tile::op::name::{tt, tw};

use super::accesses::{allocation, is_part};
use super::coalesce::{CoalescedLayout, CopyThreadCounts, coalesce_layout};
use super::{SynthesisError, SynthesisOptions};
use crate::LaunchConfig;
use crate::dot_plan::mma_problem;
use crate::layouts::{format_layout_attribute, to_canonical_dim_order};
use crate::memory::{PointerMemory, describe_pointer_memory};
use tilewright_layout::Dim;
use tilewright_plan::constraint::InstructionOperandLayouts;
use tilewright_plan::mma::{MmaCost, MmaError, MmaProblem, mma_candidates, plan_mma};
use tilewright_plan::movement::{AxisStride as GlobalStride, GlobalTensor, MovementError, RejectedCandidate};
use tilewright_target::{CanonicalLayoutStride, InstructionOperand, MemoryOperand};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::transform::explicit::{CopyChoice, DotChoice, LoweredExplicitFunction};
use tilewright_tile::{FunctionBody, Op, TileType, Value, ValueOrigin};

/// Candidates for the number of contiguous K elements in a lane (`kWidth` in Triton).
const WIDTHS: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Min number of bits that the contiguous K elements in a lane have together, in the dot's element type: a 32-bit
/// register.
const MIN_BITS: u64 = 32;
const MOST_BITS: u64 = 128;
/// Max ratio of an instruction's cycles to those of a faster one, if it is a candidate only because its lanes hold
/// other elements.
const MOST_CYCLES: f64 = 2.0;

/// A candidate plan of a dot.
#[derive(Debug, Clone)]
pub(super) struct DotCandidate {
    /// The choice that selects the plan: instruction, adjacent K elements and columns in a lane, warp partition.
    pub choice: DotChoice,
    /// The cost of the dot's plan.
    pub cost: MmaCost,
}

/// Whether the search chooses the plan of a dot: of every `tw.mma`, and of a `tt.dot` of two matrices that states no
/// layouts and has an operand that the program copies to registers. Layout assignment plans other dots.
pub(super) fn is_searched(body: &FunctionBody, op: Op) -> bool {
    let operation = body.op(op);
    let is_plain = |value: &Value| {
        let ty = body.value_type(*value);
        ty.layout().is_none() && ty.shape().is_some_and(|shape| shape.len() == 2)
    };
    match operation.name() {
        tw::MMA => true,
        tt::DOT => operation.operands.iter().all(is_plain) && Slice::of(body, op).from_copy,
        _ => false,
    }
}

/// Returns the candidate plans of a dot (`tw.mma` or `tt.dot`), in the order of the search, the most promising first.
/// Operands are in registers or, if the program stores them there, in shared memory.
pub(super) fn dot_candidates(
    body: &FunctionBody,
    op: Op,
    config: &LaunchConfig<'_>,
) -> Result<Vec<DotCandidate>, SynthesisError> {
    let operation = body.op(op);
    let named = body.value_name(operation.results[0]).map_or_else(|| "a dot".to_owned(), |name| format!("%{name}"));
    let wrong = |source| SynthesisError::Mma { operation: named.clone(), source };
    let problem = mma_problem(body, op, config.lanes, config.warps).map_err(wrong)?;
    let (explicit_width, explicit_columns) = (problem.k_width, problem.n_width);
    let explicit_warps = problem.warp_partition;
    let problem = problem.with_operands_in_shared(lie_in_shared(body, op)).with_stored_operands(false);
    let problem = problem.with_k_width(None).with_n_width(None);
    let (weighed, mut refused) = mma_candidates(&problem, config.context).map_err(wrong)?;
    let slice = Slice::of(body, op);
    let problem = problem.with_n_width(explicit_columns);
    let bits = u64::from(problem.a.bits().max(problem.b.bits()));
    let usual = |width: u64| width * bits >= MIN_BITS && (width == 1 || width * slice.narrowest <= MOST_BITS);
    let widths: Vec<u64> = WIDTHS
        .into_iter()
        .filter(|&width| explicit_width.map_or_else(|| usual(width), |explicit| explicit == width))
        .collect();
    // The instruction that is fastest for chained dots is kept, even if others are faster for a single dot.
    let chained = problem.clone().with_chained(true).with_in_chain(true);
    let keeps_rows = slice.from_dot && explicit_warps.is_none();
    let in_chain = if keeps_rows { mma_candidates(&chained, config.context).map_err(wrong)?.0 } else { Vec::new() };
    let in_chain = in_chain.first().map(|best| best.atom.clone());
    let mut found: Vec<DotCandidate> = Vec::new();
    let mut kept: Vec<(MmaCost, Operands<'_>)> = Vec::new();
    for candidate in weighed {
        let known = found.iter().any(|dot| dot.choice.instruction.as_deref() == Some(&candidate.atom));
        // An instruction with a higher cost is kept if it reads other operands from shared memory, or if its lanes hold
        // other elements, which other loads and stores serve.
        let operands = Operands::of(&candidate.atom, config);
        let beaten = kept.iter().any(|(cost, others)| is_beaten((&candidate.cost, &operands), (cost, others)));
        if known || beaten && in_chain.as_ref() != Some(&candidate.atom) {
            continue;
        }
        let plan_dot = |k_width: Option<u64>| {
            let (cost, smem_operands) = plan_in_shared(&problem, &candidate.atom, k_width, config)?;
            let instruction = Some(Arc::from(&*candidate.atom));
            let choice =
                DotChoice { instruction, k_width, n_width: explicit_columns, warps_along_m: false, smem_operands };
            Ok(DotCandidate { choice, cost })
        };
        let any_width = plan_dot(None);
        // `kWidth` concerns operands in registers only.
        let from_shared = any_width.as_ref().ok().filter(|dot| dot.choice.smem_operands == [true, true]);
        let by_width = |width: &u64| if from_shared.is_some() { None } else { plan_dot(Some(*width)).ok() };
        let mut by_k_width: Vec<DotCandidate> =
            from_shared.cloned().into_iter().chain(widths.iter().filter_map(by_width)).collect();
        match any_width {
            // No `kWidth` (contiguous K elements in a lane) fits, because the instruction distributes K over lanes:
            // plan it without one.
            Ok(dot) if by_k_width.is_empty() && explicit_width.is_none() => by_k_width.push(dot),
            Ok(_) => {}
            Err(reason) => refused.push(RejectedCandidate { candidate: candidate.atom.clone(), reason }),
        }
        if !by_k_width.is_empty() {
            kept.push((candidate.cost, operands));
        }
        found.extend(by_k_width);
    }
    if slice.rearranged && slice.narrowest < 8 && explicit_columns.is_none() {
        // If elements narrower than a byte are adjacent along N in a lane, the lane must hold whole bytes of them.
        let beside = problem.clone().with_n_width(8 / slice.narrowest);
        let in_byte = |dot: &DotCandidate| {
            let atom = dot.choice.instruction.as_deref().unwrap_or_default();
            let (cost, smem_operands) = plan_in_shared(&beside, atom, dot.choice.k_width, config).ok()?;
            let choice = DotChoice { n_width: beside.n_width, smem_operands, ..dot.choice.clone() };
            Some(DotCandidate { choice, cost })
        };
        let more: Vec<DotCandidate> = found.iter().filter_map(in_byte).collect();
        found.extend(more);
    }
    if keeps_rows {
        // Each candidate has two variants: each warp keeps its rows of the producing dot (all warps divide M), or the
        // warp partition is chosen freely.
        let with_warps_along_m = |dot: &DotCandidate| {
            let choice = DotChoice { warps_along_m: true, ..dot.choice.clone() };
            let atom = choice.instruction.as_deref().unwrap_or_default();
            // If the warps cannot keep their rows, the warp partition is chosen freely, which costs the same.
            let found = plan_in_shared(&chained, atom, choice.k_width, config);
            let (cost, smem_operands) = found.unwrap_or((dot.cost, dot.choice.smem_operands));
            DotCandidate { choice: DotChoice { smem_operands, ..choice }, cost }
        };
        let rows: Vec<DotCandidate> = found.iter().map(with_warps_along_m).collect();
        found.splice(0..0, rows);
    }
    if found.is_empty() {
        return Err(wrong(MmaError::Impossible { reasons: RejectedCandidate::summarize_reasons(&refused) }));
    }
    Ok(found)
}

/// The properties of an instruction's operands that decide which loads and stores serve it.
struct Operands<'m> {
    /// The role (`a` or `b`) of each operand that it reads from shared memory, and the axis along which the operand is
    /// contiguous.
    in_shared: Vec<(&'m str, Option<usize>)>,
    /// The elements at which the lanes start, for each operand in registers; empty for plain multiply-adds.
    lanes: Vec<(&'m str, Vec<Vec<u64>>)>,
}

impl<'m> Operands<'m> {
    /// Returns the properties of the operands of the instruction `row`.
    fn of(row: &str, config: &LaunchConfig<'m>) -> Self {
        let row = config.context.instructions.iter().find(|own| own.name == row);
        let (mut in_shared, mut lanes) = (Vec::new(), Vec::new());
        for operand in row.into_iter().flat_map(|row| &row.operands) {
            match operand {
                InstructionOperand::Memory(memory) => in_shared.push((memory.role.as_str(), contiguous_axis(memory))),
                InstructionOperand::Register { role, layout, .. } if layout.ins().contains(Dim::LANE) => {
                    lanes.push((role.as_str(), layout.bases_of(Dim::LANE)));
                }
                _ => {}
            }
        }
        Self { in_shared, lanes }
    }
}

/// Returns the axis along which an operand in shared memory is contiguous.
fn contiguous_axis(memory: &MemoryOperand) -> Option<usize> {
    let beside = CanonicalLayoutStride::Bytes(u64::from(memory.bits / 8));
    let first = memory.layouts.first()?;
    first.axes.iter().position(|steps| steps.first().is_some_and(|step| step.stride == beside))
}

/// Whether an instruction is worse than another: it costs as much or more, and the same loads and stores serve it, or
/// it costs more than [`MOST_CYCLES`] times as much.
fn is_beaten((cost, operands): (&MmaCost, &Operands<'_>), (other, others): (&MmaCost, &Operands<'_>)) -> bool {
    let is_alike = operands.lanes.is_empty() || operands.lanes == others.lanes;
    let is_slow = cost.cycles() > MOST_CYCLES * other.cycles();
    operands.in_shared == others.in_shared
        && (is_alike || is_slow)
        && other.cycles() <= cost.cycles()
        && other.issues <= cost.issues
}

/// Plans an MMA by the instruction `atom` with `width` contiguous K elements in a lane. Returns the cost, and for each
/// operand whether it is read from shared memory.
///
/// # Errors
/// The reason if there is no plan, if the instruction's accumulator is not in registers, or if the instruction cannot
/// read an operand as it is stored in shared memory.
fn plan_in_shared(
    problem: &MmaProblem,
    atom: &str,
    width: Option<u64>,
    config: &LaunchConfig<'_>,
) -> Result<(MmaCost, [bool; 2]), String> {
    if let Some(row) = config.context.instructions.iter().find(|row| row.name == atom) {
        InstructionOperandLayouts::from_instruction(row).map_err(|error| error.to_string())?;
    }
    let pinned = problem.clone().with_atom(atom.to_owned()).with_k_width(width.or(problem.k_width));
    let plan = plan_mma(&pinned, config.context).map_err(|error| error.to_string())?;
    let smem_operands = [&plan.a, &plan.b].map(|operand| operand.ins().contains(Dim::OFFSET));
    for side in (0..2).filter(|&side| smem_operands[side]) {
        plan.check_operand_in_shared(side).map_err(|error| error.to_string())?;
    }
    Ok((plan.cost, smem_operands))
}

/// Returns, for operands A and B of a dot, whether an MMA can read the operand directly from shared memory.
pub(super) fn lie_in_shared(body: &FunctionBody, dot: Op) -> [bool; 2] {
    [0, 1].map(|side| lies_in_shared(body, dot, body.op(dot).operands[side]))
}

/// Whether an MMA can read an operand directly from shared memory. The operand must be a tensor there, or the result of
/// a `tw.copy` to registers that only dots use, as operands A and B. Between the copy and the dot, nothing may write to
/// the copied tensor. No matrix descriptor describes a part of a tensor.
fn lies_in_shared(body: &FunctionBody, dot: Op, operand: Value) -> bool {
    if matches!(body.value_type(operand), TileType::Memory(_)) {
        return !is_part(body, operand);
    }
    let ValueOrigin::Result(copy, _) = body.value_origin(operand) else { return false };
    let operation = body.op(copy);
    let tensor = operation.operands.first().copied().filter(|_| operation.name() == tw::COPY);
    let is_read = |tensor: Value| matches!(body.value_type(tensor), TileType::Memory(_)) && !is_part(body, tensor);
    let Some(tensor) = tensor.filter(|tensor| is_read(*tensor)) else { return false };
    let is_explicit = operation.attributes.get("instruction").is_some() || body.value_type(operand).layout().is_some();
    let all = body.walk_region(body.root());
    let uses = |op: &Op| {
        let operation = body.op(*op);
        let multiplied = if matches!(operation.name(), tw::MMA | tt::DOT) { 2 } else { 0 };
        operation.operands[multiplied..].contains(&operand)
    };
    let index_of = |required: Op| all.iter().position(|op| *op == required);
    let (Some(from), Some(to)) = (index_of(copy), index_of(dot)) else { return false };
    let between = all.get(from + 1..to).unwrap_or_default();
    let undisturbed = between.iter().all(|op| {
        let target = body.operand(*op, "dst").filter(|_| body.op(*op).name() == tw::COPY);
        target.is_none_or(|target| allocation(body, target) != allocation(body, tensor))
            && body.op(*op).regions.is_empty()
            && !body.op(*op).definition.traits.terminator
    });
    !is_explicit && !all.iter().any(uses) && undisturbed
}

/// Properties of the backward slice of a dot's operands through elementwise and shape operations.
struct Slice {
    /// Number of bits of the narrowest element type in the slice.
    narrowest: u64,
    /// Whether the slice contains another dot.
    from_dot: bool,
    /// Whether the slice contains a `tw.copy`.
    from_copy: bool,
    /// Whether the slice contains shape operations, which move elements to other coordinates.
    rearranged: bool,
}

impl Slice {
    fn of(body: &FunctionBody, op: Op) -> Self {
        let mut slice = Self { narrowest: u64::MAX, from_dot: false, from_copy: false, rearranged: false };
        let mut open: Vec<Value> = body.op(op).operands[..2].to_vec();
        let mut seen: BTreeSet<Value> = BTreeSet::new();
        while let Some(value) = open.pop() {
            let ty = body.value_type(value);
            if !seen.insert(value) || ty.shape().is_none() {
                continue;
            }
            slice.narrowest = slice.narrowest.min(u64::from(ty.element_bits().unwrap_or(32)).max(2));
            let ValueOrigin::Result(defining_op, _) = body.value_origin(value) else { continue };
            let operation = body.op(defining_op);
            match operation.name() {
                tw::MMA | tt::DOT => slice.from_dot = true,
                tw::COPY => slice.from_copy = true,
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

/// Returns the layout by which threads copy from global to shared memory, as a choice for the copy `copy_op`.
/// Neighbouring threads copy neighbours in memory, and accesses are as wide as AxisInfo allows.
pub(super) fn of_copy(
    expanded: &LoweredExplicitFunction,
    axis_info: &AxisInfoMap,
    copy_op: Op,
    config: &LaunchConfig<'_>,
    options: SynthesisOptions,
) -> Result<CopyChoice, SynthesisError> {
    let Some(body) = &expanded.function.body else { return Ok(CopyChoice::default()) };
    let pointers = body.op(copy_op).operands[0];
    let masks: Vec<Value> = body.operands(copy_op, "mask").to_vec();
    let sufficient = config.context.target.global.sufficient_alignment();
    let Some(named) = describe_pointer_memory(body, axis_info, pointers, &masks, sufficient) else {
        return Ok(CopyChoice::default());
    };
    let found = mapped(&named, config, options)?;
    let bytes = found.vector_elements * u64::from(named.bits / 8);
    Ok(CopyChoice {
        layout: Some(format_layout_attribute(&to_canonical_dim_order(&found.layout)?)),
        bytes: Some(bytes),
        ..CopyChoice::default()
    })
}

/// Returns the layout that coalesces accesses of a tensor in global memory; without task mapping, each lane accesses
/// single elements.
pub(super) fn mapped(
    named: &PointerMemory,
    config: &LaunchConfig<'_>,
    options: SynthesisOptions,
) -> Result<CoalescedLayout, MovementError> {
    let threads = CopyThreadCounts { lanes: config.lanes.into(), warps: config.warps.into() };
    let tensor = if options.task_mapping { named.tensor.clone() } else { without_contiguity(&named.tensor) };
    coalesce_layout(&tensor, named.bits, threads, None, config.context.target)
}

/// Returns the description of the same tensor with all strides unknown, so that accesses are of single elements.
fn without_contiguity(tensor: &GlobalTensor) -> GlobalTensor {
    let axes = tensor.axes.iter().map(|&(dim, size, _)| (dim, size, GlobalStride::MultipleOf(1))).collect();
    GlobalTensor::new(axes, 1)
}
