//! The anchors of synthesis, from which other layouts follow: the instructions of dots, and the coalesced layouts of
//! copies from global memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use tilewright_tile::op::name::{tt, tw};

use super::accesses::allocation;
use super::coalesce::{CoalescedLayout, CopyThreadCounts, coalesce_layout};
use super::{SynthesisError, SynthesisOptions};
use crate::LaunchConfig;
use crate::chain;
use crate::dot_plan::{mma_problem, plan_or_spill};
use crate::layouts::{format_layout_attribute, to_canonical_dim_order};
use crate::memory::{PointerMemory, describe_pointer_memory};
use tilewright_plan::mma::{self, CandidateSpace, MmaCost, MmaError, MmaProblem, WarpPartition, dot_candidates};
use tilewright_plan::movement::{AxisStride as GlobalStride, GlobalTensor, MovementError, RejectedCandidate};
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::transform::explicit::{CopyChoice, DotChoice, DotWarps, LoweredExplicitFunction};
use tilewright_tile::{FunctionBody, Op, TileType, Value, ValueOrigin};

/// Candidates for the number of contiguous K elements in a lane (`kWidth` in Triton).
const WIDTHS: [u64; 6] = [1, 2, 4, 8, 16, 32];
/// Min number of bits that the contiguous K elements in a lane have together, in the dot's element type: a 32-bit
/// register.
const MIN_BITS: u64 = 32;
const MOST_BITS: u64 = 128;

/// A candidate plan of a dot.
#[derive(Debug, Clone)]
pub(super) struct DotCandidate {
    /// The choice that selects the plan: instruction, adjacent K elements and columns in a lane, warp partition.
    pub choice: DotChoice,
    /// The cost of the dot's plan.
    pub cost: MmaCost,
    /// The warp partition of the plan.
    pub partition: WarpPartition,
    /// Whether the warp partition is not that of the instruction's best plan.
    pub is_other_partition: bool,
    /// Whether the candidate is tried last, from the best leaf: another warp partition.
    pub is_deferred: bool,
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
/// Operands are in registers or, if the program stores them there, in shared memory. `is_operand` states whether the
/// result becomes an operand of another dot.
pub(super) fn find_dot_candidates(
    body: &FunctionBody,
    (op, is_operand): (Op, bool),
    config: &LaunchConfig<'_>,
) -> Result<Vec<DotCandidate>, SynthesisError> {
    let operation = body.op(op);
    let named = body.value_name(operation.results[0]).map_or_else(|| "a dot".to_owned(), |name| format!("%{name}"));
    let wrong = |source| SynthesisError::Mma { operation: named.clone(), source };
    let problem = mma_problem(body, op, config.lanes, config.warps).map_err(wrong)?;
    let slice = Slice::of(body, op);
    let space = slice.candidate_space(&problem, is_operand);
    let is_pinned = problem.warp_partition.is_some();
    let may_be_deferred = is_operand && !slice.from_dot && !is_pinned;
    let problem = problem.with_operands_in_shared(lie_in_shared(body, op)).with_stored_operands(false);
    let problem = problem.with_k_width(None).with_n_width(None).with_in_chain(is_operand || slice.from_dot);
    let listed = |problem: &MmaProblem| match dot_candidates(problem, &space, config.context)? {
        (candidates, rejected) if candidates.is_empty() => {
            Err(MmaError::Impossible { reasons: RejectedCandidate::summarize_reasons(&rejected) })
        }
        (candidates, _) => Ok(candidates),
    };
    let candidates = plan_or_spill(&problem, listed).map_err(wrong)?;
    let is_other = |plan: &mma::DotCandidate| !is_pinned && plan.problem.warp_partition.is_some();
    let candidate = |plan: mma::DotCandidate| DotCandidate {
        choice: DotChoice {
            instruction: plan.problem.atom.as_deref().map(Arc::from),
            k_width: plan.problem.k_width,
            n_width: plan.problem.n_width,
            warps: Some(choose_warps(&plan, is_pinned)),
            smem_operands: plan.smem_operands,
        },
        cost: plan.cost,
        partition: plan.warp_partition,
        is_other_partition: is_other(&plan),
        is_deferred: may_be_deferred && !plan.problem.chained || is_other(&plan),
    };
    let mut found: Vec<DotCandidate> = Vec::new();
    for candidate in candidates.into_iter().map(candidate) {
        // Where warps cannot keep whole rows, the candidate is listed twice.
        if !found.iter().any(|known| known.choice == candidate.choice) {
            found.push(candidate);
        }
    }
    Ok(found)
}

/// Returns the choice of warps that selects a plan; `is_pinned` states whether the program has the warp partition. A
/// plan with both operands in registers is chosen by its partition, since the best plan may depend on other dots.
fn choose_warps(plan: &mma::DotCandidate, is_pinned: bool) -> DotWarps {
    let WarpPartition { warps, swap_ab, lanes } = plan.warp_partition;
    let is_best = plan.problem.warp_partition.is_none();
    match is_pinned || is_best && (lanes.is_some() || plan.smem_operands != [false; 2]) {
        false => DotWarps::Partition { warps, swap_ab },
        true if plan.problem.chained => DotWarps::AlongM,
        true => DotWarps::Best,
    }
}

/// Returns, for operands A and B of a dot, whether an MMA can read the operand directly from shared memory.
pub(super) fn lie_in_shared(body: &FunctionBody, dot: Op) -> [bool; 2] {
    [0, 1].map(|side| operand_tensor(body, dot, side).is_some())
}

/// Returns the tensor in shared memory, or the part of one, from which an MMA can read operand A (`side` 0) or B (1)
/// directly: the operand itself, or the source of a `tw.copy` to registers that only dots use, as operands A and B.
/// `None` if there is none: if something between the copy and the dot writes to the tensor.
pub(super) fn operand_tensor(body: &FunctionBody, dot: Op, side: usize) -> Option<Value> {
    let operand = body.op(dot).operands[side];
    let is_read = |tensor: Value| matches!(body.value_type(tensor), TileType::Memory(_));
    if is_read(operand) {
        return Some(operand);
    }
    let ValueOrigin::Result(copy, _) = body.value_origin(operand) else { return None };
    let operation = body.op(copy);
    let tensor = operation.operands.first().copied().filter(|_| operation.name() == tw::COPY);
    let tensor = tensor.filter(|tensor| is_read(*tensor))?;
    let is_explicit = operation.attributes.get("instruction").is_some() || body.value_type(operand).layout().is_some();
    let all = body.walk_region(body.root());
    let uses = |op: &Op| {
        let operation = body.op(*op);
        let multiplied = if matches!(operation.name(), tw::MMA | tt::DOT) { 2 } else { 0 };
        operation.operands[multiplied..].contains(&operand)
    };
    let index_of = |required: Op| all.iter().position(|op| *op == required);
    let between = all.get(index_of(copy)? + 1..index_of(dot)?).unwrap_or_default();
    let undisturbed = between.iter().all(|op| {
        let target = body.operand(*op, "dst").filter(|_| body.op(*op).name() == tw::COPY);
        target.is_none_or(|target| allocation(body, target) != allocation(body, tensor))
            && body.op(*op).regions.is_empty()
            && !body.op(*op).definition.traits.terminator
    });
    (!is_explicit && !all.iter().any(uses) && undisturbed).then_some(tensor)
}

/// Finds the dots whose result becomes an operand of another dot, each with that dot.
pub(super) fn find_chains(body: &FunctionBody) -> Vec<(Op, Op)> {
    let ops = body.walk_region(body.root()).into_iter();
    let dots = ops.filter(|op| matches!(body.op(*op).name(), tw::MMA | tt::DOT));
    let chains_to = |dot: Op| Slice::with_dots(body, dot).1.into_iter().map(move |producer| (producer, dot));
    dots.flat_map(chains_to).filter(|(producer, dot)| producer != dot).collect()
}

/// Properties of the backward slice of a dot's operands through elementwise and shape operations. They decide which
/// choices are open for the dot.
#[derive(Debug)]
pub(super) struct Slice {
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
    /// Returns the choices that are open for the dot, whose attributes state `stated`, and whose result is an operand
    /// of another dot or not. Attributes state `k_width`, `n_width` and the warp partition.
    fn candidate_space(&self, stated: &MmaProblem, is_operand: bool) -> CandidateSpace<'static> {
        let bits = u64::from(stated.a.bits().max(stated.b.bits()));
        let usual = |width: &u64| width * bits >= MIN_BITS && (*width == 1 || width * self.narrowest <= MOST_BITS);
        let k_widths = stated.k_width.map_or_else(|| WIDTHS.into_iter().filter(usual).collect(), |width| vec![width]);
        let mut n_widths = vec![stated.n_width];
        if self.rearranged && self.narrowest < 8 && stated.n_width.is_none() {
            // If elements narrower than a byte are adjacent along N in a lane, the lane must hold whole bytes of them.
            n_widths.push(Some(8 / self.narrowest));
        }
        // Each warp may keep its rows of the dot that produces an operand: all warps then divide M.
        let partitions = stated.warp_partition.is_none();
        let keeps_rows = (is_operand || self.from_dot) && partitions;
        let any_k_width = stated.k_width.is_none();
        CandidateSpace::Instructions { k_widths, any_k_width, n_widths, keeps_rows, partitions }
    }

    pub fn of(body: &FunctionBody, op: Op) -> Self {
        Self::with_dots(body, op).0
    }

    /// Returns the properties of the slice of a dot, and the other dots in it.
    fn with_dots(body: &FunctionBody, op: Op) -> (Self, Vec<Op>) {
        let mut dots = Vec::new();
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
                tw::MMA | tt::DOT => dots.push(defining_op),
                tw::COPY => slice.from_copy = true,
                tw::CAST => open.extend(&operation.operands),
                tt::TRANS | tt::RESHAPE => {
                    slice.rearranged = true;
                    open.extend(&operation.operands);
                }
                _ if chain::keeps(body, defining_op) => open.extend(&operation.operands),
                _ => {}
            }
        }
        slice.from_dot = !dots.is_empty();
        (slice, dots)
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
