//! Dots: the MMA problem that a `tt.dot` states, and the operand layouts of its plan.
//!
//! The MMA problem follows from the program alone, and the planner returns one plan for it. So lowering computes the
//! same plan again, and the operands already have the layouts of this plan.

use super::LaunchConfig;
use super::batches::{MatrixBatch, extend_axis, extend_over_batches, warp_partition};
use super::chain;
use super::given_layouts::plan_for_given_layouts;
use super::layouts::{
    ClusterPartition, LayoutTransfer, resolve_distributed_layout, tensor_shape_from_layout, to_canonical_dim_order,
};
use super::operand_orders;
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_plan::mma::{BlockScale, MmaError, MmaPlan, MmaProblem, WarpPartition};
use tilewright_target::ElementType;
use tilewright_tile::op::name::tw;
use tilewright_tile::op_attrs::{
    ALL_WARPS_ALONG_M, CONTIGUOUS_WARP_COLUMNS, DOT_COLUMNS_PER_LANE, FMA_DOT_LANES_ALONG_M, INSTRUCTION, IS_PENDING,
    K_WIDTH, MMA_TO_DOT_ATTRIBUTES, OPERAND_STAYS_IN_SMEM, SWAP_AB, WARP_COUNTS_M_N,
};
use tilewright_tile::{Attribute, Attributes, FunctionBody, Op, Operation, TileType, Value, ValueOrigin};

/// The plan of a dot, with the layouts of its operands as tensors of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct DotPlan {
    /// The MMA plan for one matrix of the batch.
    pub plan: MmaPlan,
    /// The layouts of operands A and B; `None` if any layout will do, because the instruction reads the operand from
    /// shared memory.
    pub operands: [Option<LinearLayout>; 2],
    /// The layouts of the scales of A and B; `None` if the operand has no scales or if any layout will do.
    pub scales: [Option<LinearLayout>; 2],
    /// The layout of the accumulator.
    pub accumulator: LinearLayout,
    /// For a batched dot, the number of matrices and their distribution over warps; `None` for a dot of two matrices.
    pub batches: Option<MatrixBatch>,
    /// For each bit of a block's index in a cluster, the matrix axis that it divides: 0 is M, 1 is N; `None` if the
    /// blocks multiply the same matrices.
    pub blocks: Vec<Option<usize>>,
}

/// The names of the dot's operand groups whose layouts a plan determines: operands A and B, the accumulator, the scales
/// of A and B.
pub(super) const OPERANDS: [&str; 5] = ["a", "b", "c", "a_scale", "b_scale"];

impl DotPlan {
    /// Returns the layout of each operand group in [`OPERANDS`]; `None` for an operand that is taken in any layout.
    pub(super) fn layouts(&self) -> [Option<&LinearLayout>; 5] {
        let ([a, b], [a_scale, b_scale]) = (&self.operands, &self.scales);
        [a.as_ref(), b.as_ref(), Some(&self.accumulator), a_scale.as_ref(), b_scale.as_ref()]
    }
}

/// Max number of dots in a chain for which a plan accounts for the conversion of the preceding dot's accumulator.
const LONGEST_CHAIN: u32 = 3;

/// Plans a `tt.dot` or `tt.dot_scaled`.
///
/// # Errors
/// [`MmaError::Impossible`] if no atom of the target multiplies the operands, or as [`mma_problem`]; another variant if
/// sizes or scales are invalid, or if an operand cannot be moved to its layout.
pub fn plan_dot(body: &FunctionBody, op: Op, config: &LaunchConfig<'_>) -> Result<DotPlan, MmaError> {
    let mut problem = mma_problem(body, op, config.lanes, config.warps)?.with_registers(config.context.registers);
    let blocks = divide_among_blocks(body, op, &problem.shape, config);
    for axis in blocks.iter().flatten() {
        problem.shape[*axis] /= 2;
    }
    let attributes = &body.op(op).attributes;
    let (batches, packed) = (batches(body, op), packed(body, op));
    let makers = chain::producing_dots(body, op);
    let is_operand = chain::is_operand(body, op);
    let chained = attributes.get(ALL_WARPS_ALONG_M).map_or(is_operand, |along_m| *along_m != Attribute::Bool(false));
    let in_chain = chained || is_operand || makers != [None, None];
    // If the program names an instruction, that choice already accounted for the conversion of operands; an
    // asynchronous MMA reads its operands from shared memory.
    let is_pinned = problem.atom.is_some() || attributes.get(IS_PENDING).is_some() || !blocks.is_empty();
    let mut operand_layouts = [None, None];
    let is_open = !is_pinned && packed == [None, None];
    if is_open && batches.is_none() && chain::length(body, op) <= LONGEST_CHAIN {
        for (layout, maker) in operand_layouts.iter_mut().zip(makers) {
            let accumulator =
                maker.map(|maker| plan_dot(body, maker, config)).transpose()?.map(|maker| maker.accumulator);
            *layout = accumulator.map(|accumulator| to_canonical_dim_order(&accumulator)).transpose()?;
        }
    }
    let problem = problem.with_chained(chained).with_in_chain(in_chain).with_operand_layouts(operand_layouts);
    let planned = plan_or_spill(&problem, |problem| warp_partition(problem, batches, config))?;
    let (plan, batches) = match is_open {
        true => plan_for_given_layouts(planned, problem, body, op, config)?,
        false => planned,
    };
    let operand_layout = |side: usize| -> Result<Option<LinearLayout>, MmaError> {
        let layout = [&plan.a, &plan.b][side];
        if layout.ins().contains(Dim::OFFSET) {
            return Ok(None);
        }
        let full = extend_axis(layout, 1 - side, plan.problem.shape[2])?;
        let value_layout = match packed[side] {
            Some(axis) => LayoutTransfer::Halved(axis).apply(&full)?,
            None => full,
        };
        let all = extend_over_batches(&value_layout, batches)?;
        Ok(Some(extend_over_blocks(&all, &blocks, DotTensor::Operand(side))?))
    };
    let scale = |side: usize| -> Result<Option<LinearLayout>, MmaError> {
        let (Some(layout), Some(scale)) = (&plan.scales[side], plan.problem.scales[side]) else { return Ok(None) };
        let lines = (plan.problem.shape[2] / scale.block).max(1);
        let full = extend_axis(layout, 1, lines)?;
        // The plan repeats a scale for each register of its operand; as a tile value each scale is stored once.
        let value_layout = LayoutTransfer::ReduceToOne(Vec::new()).apply(&full)?;
        let all = extend_over_batches(&value_layout, batches)?;
        Ok(Some(extend_over_blocks(&all, &blocks, DotTensor::Scale(side))?))
    };
    let (operands, scales) = ([operand_layout(0)?, operand_layout(1)?], [scale(0)?, scale(1)?]);
    let accumulator = extend_over_batches(&plan.c, batches)?;
    let accumulator = extend_over_blocks(&accumulator, &blocks, DotTensor::Accumulator)?;
    Ok(DotPlan { operands, scales, accumulator, plan, batches, blocks })
}

/// Plans a dot by `plan`. If no atom has enough registers, plans it again with spills; the error is that without them.
pub(super) fn plan_or_spill<T>(
    problem: &MmaProblem,
    plan: impl Fn(&MmaProblem) -> Result<T, MmaError>,
) -> Result<T, MmaError> {
    plan(problem).or_else(|error| match error {
        MmaError::Impossible { .. } => plan(&problem.clone().with_may_spill(true)).map_err(|_| error),
        other => Err(other),
    })
}

/// Returns the MMA problem of a dot (`tt.dot`, `tt.dot_scaled` or `tw.mma`), for one matrix of a batch.
///
/// # Errors
/// [`MmaError::Impossible`] if the accumulator has fewer than two axes, if operand A has another number of axes than
/// the accumulator, if no MMA has the element types, or if the attribute with the warp partition is malformed.
pub fn mma_problem(body: &FunctionBody, op: Op, lanes: u32, warps: u32) -> Result<MmaProblem, MmaError> {
    let shape =
        |group: &str| body.operand(op, group).and_then(|value| body.value_type(value).shape()).unwrap_or_default();
    let (a, c) = (shape("a"), shape("c"));
    let rank = c.len();
    if rank < 2 || a.len() != rank {
        return Err(impossible("operands and accumulator have two or three axes".to_owned()));
    }
    let [(a_number, a_scale), (b_number, b_scale)] = [operand_type(body, op, 0)?, operand_type(body, op, 1)?];
    let k = a[rank - 1] * if packed(body, op)[0] == Some(1) { 2 } else { 1 };
    let accumulator = body.operand(op, "c").map(|value| body.value_type(value).element());
    // No MMA accumulates in types of eight bits or fewer.
    let accumulator = accumulator.filter(|ty| !matches!(ty, TileType::Float(float) if float.bits() < 16));
    let accumulator =
        accumulator.and_then(element_type).ok_or_else(|| impossible("no MMA accumulates in this type".to_owned()))?;
    let shape = [c[rank - 2], c[rank - 1], k];
    let requested =
        MmaProblem::new(shape, [a_number, b_number, accumulator], lanes, warps).with_scales([a_scale, b_scale]);
    let attributes = &body.op(op).attributes;
    let explicit = |name: &str| attributes.get(choice_attribute(body.op(op), name));
    let atom = explicit(INSTRUCTION).and_then(Attribute::as_text).map(str::to_owned);
    let number = |name: &str| explicit(name).and_then(Attribute::as_integer).and_then(|n| u64::try_from(n).ok());
    let warp_partition = explicit_warp_partition(body.op(op))?;
    let along_k = operand_orders::along_k(attributes).unwrap_or(requested.along_k);
    let in_shared =
        ["a", "b"].map(|group| body.operand(op, group).is_some_and(|operand| is_smem_operand(body, operand)));
    // A program that names the atom but no orientation has all operands where the atom reads them.
    let stores_operands = atom.is_none() || warp_partition.is_some() || in_shared == [false; 2];
    Ok(requested
        .with_operands_in_shared(in_shared)
        .with_stored_operands(stores_operands)
        .with_k_contiguous(along_k)
        .with_atom(atom)
        .with_warp_partition(warp_partition)
        .with_k_width(number(K_WIDTH))
        .with_n_width(number(DOT_COLUMNS_PER_LANE))
        .with_contiguous_warp_columns(explicit(CONTIGUOUS_WARP_COLUMNS).is_some()))
}

/// Whether a value is an operand that the MMA reads from shared memory, so that it takes no registers.
pub(crate) fn is_smem_operand(body: &FunctionBody, value: Value) -> bool {
    matches!(body.value_origin(value), ValueOrigin::Result(op, _) if body.op(op).attributes.get(OPERAND_STAYS_IN_SMEM).is_some())
}

/// Returns the name of the attribute by which a dot states a choice that `tt.dot` states by the attribute `name`.
fn choice_attribute<'n>(dot: &Operation, name: &'n str) -> &'n str {
    let of_mma = MMA_TO_DOT_ATTRIBUTES.iter().find(|(_, of_dot)| *of_dot == name).filter(|_| dot.name() == tw::MMA);
    of_mma.map_or(name, |(of_mma, _)| *of_mma)
}

/// Returns the warp partition that the attributes of a dot state; `None` if they state none.
fn explicit_warp_partition(dot: &Operation) -> Result<Option<WarpPartition>, MmaError> {
    let (attributes, name) = (&dot.attributes, choice_attribute(dot, WARP_COUNTS_M_N));
    let Some(explicit) = attributes.get(name) else { return Ok(None) };
    let warps = match explicit {
        Attribute::Array(_, warps) => <[u64; 2]>::try_from(&warps[..]).ok(),
        _ => None,
    };
    let Some(warps) = warps else {
        return Err(impossible(format!("`{name}` is `array<i64: M, N>`, warps along M and along N; found {explicit}")));
    };
    let lanes =
        attributes.get(FMA_DOT_LANES_ALONG_M).and_then(Attribute::as_integer).and_then(|n| u64::try_from(n).ok());
    Ok(Some(WarpPartition { swap_ab: attributes.get(SWAP_AB).is_some(), warps, lanes }))
}

/// Writes the chosen instruction and warp partition into the attributes of a dot.
pub(super) fn write_plan_attributes(attributes: &mut Attributes, problem: &MmaProblem) {
    let number = |value: u64| Attribute::integer(value as i64, TileType::integer(32));
    if let Some(atom) = &problem.atom {
        attributes.set(INSTRUCTION, Attribute::Text(atom.as_str().into()));
    }
    let shared = problem.warp_partition;
    let numbers = [
        (K_WIDTH, problem.k_width),
        (DOT_COLUMNS_PER_LANE, problem.n_width),
        (FMA_DOT_LANES_ALONG_M, shared.and_then(|shared| shared.lanes)),
    ];
    for (name, value) in numbers {
        value.map(|value| attributes.set(name, number(value)));
    }
    if problem.contiguous_warp_columns {
        attributes.set(CONTIGUOUS_WARP_COLUMNS, Attribute::Unit);
    }
    if let Some(WarpPartition { swap_ab, warps, .. }) = shared {
        attributes.set(WARP_COUNTS_M_N, Attribute::Array(TileType::integer(64), warps.to_vec()));
        swap_ab.then(|| attributes.set(SWAP_AB, Attribute::Unit));
    }
}

/// Returns the element type of operand A (`side` 0) or B (1), and its scales if it has any.
fn operand_type(body: &FunctionBody, op: Op, side: usize) -> Result<(ElementType, Option<BlockScale>), MmaError> {
    let (group, scale_group, kind) = [("a", "a_scale", "a_elem_type"), ("b", "b_scale", "b_elem_type")][side];
    let operation = body.op(op);
    let ty = body.operand(op, group).map(|value| body.value_type(value).element());
    let ty = ty.ok_or_else(|| impossible(format!("it has no operand `{group}`")))?;
    let unknown = || impossible(format!("no MMA has operands of `{ty}`"));
    let Some(kind) = operation.attributes.get(kind).and_then(Attribute::as_text) else {
        let precision = operation.attributes.get("inputPrecision").and_then(Attribute::as_text).unwrap_or("ieee");
        let number = match (ty, precision) {
            // More precise modes than `tf32`, such as `tf32x3`, are computed in full binary32.
            (TileType::Float(tilewright_tile::FloatType::F32), "tf32") => ElementType::from_name("tf32"),
            _ => element_type(ty),
        };
        return Ok((number.ok_or_else(unknown)?, None));
    };
    let number = ElementType::from_name(if kind == "fp16" { "f16" } else { kind }).ok_or_else(unknown)?;
    let Some(scale) = body.operand(op, scale_group) else { return Ok((number, None)) };
    let blocks = body.value_type(scale).shape().and_then(|shape| shape.last().copied()).unwrap_or(1).max(1);
    let shape = body.operand(op, "a").and_then(|value| body.value_type(value).shape()).unwrap_or_default();
    let k = shape.last().copied().unwrap_or(1) * if packed(body, op)[0] == Some(1) { 2 } else { 1 };
    let kept = match body.value_type(scale).element() {
        // MMAs read these scales without a sign; PTX names them `ue4m3`.
        TileType::Float(tilewright_tile::FloatType::F8E4M3Fn) => ElementType::from_name("ue4m3"),
        other => element_type(other).filter(|number| number.is_float()),
    };
    let scale_type = kept.or_else(|| ElementType::from_name("e8m0")).ok_or_else(unknown)?;
    Ok((number, Some(BlockScale { element_type: scale_type, block: (k / blocks).max(1), exponents: None })))
}

/// Returns the element type by which an MMA reads a tile type: integers are signed. `None` if no MMA reads the type.
pub(crate) fn element_type(ty: &TileType) -> Option<ElementType> {
    match ty {
        TileType::Integer(bits, _) => Some(ElementType::Integer { bits: *bits, signed: true }),
        TileType::Float(float) => Some(ElementType::Float(float.format())),
        _ => None,
    }
}

/// Returns for operands A and B the matrix axis along which two packed 4-bit elements share a tensor element; `None`
/// for an operand that is not packed.
fn packed(body: &FunctionBody, op: Op) -> [Option<usize>; 2] {
    let attributes = &body.op(op).attributes;
    let narrow = |kind: &str| attributes.get(kind).and_then(Attribute::as_text) == Some("e2m1");
    let along_k = |name: &str| attributes.get(name).and_then(Attribute::as_integer) != Some(0);
    let of =
        |kind: &str, pack: &str, k_axis: usize| narrow(kind).then(|| if along_k(pack) { k_axis } else { 1 - k_axis });
    [of("a_elem_type", "lhs_k_pack", 1), of("b_elem_type", "rhs_k_pack", 0)]
}

/// Returns the number of matrices of a batched dot; `None` for operands of rank two.
fn batches(body: &FunctionBody, op: Op) -> Option<u64> {
    let shape = body.operand(op, "c").and_then(|value| body.value_type(value).shape()).unwrap_or_default();
    (shape.len() > 2).then(|| shape[0])
}

/// A tensor of a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotTensor {
    /// Operand A (0) or B (1).
    Operand(usize),
    /// The scales of operand A (0) or B (1): a matrix with one row for each row of A, or for each column of B.
    Scale(usize),
    /// The accumulator.
    Accumulator,
}

impl DotTensor {
    /// Returns the axis of this tensor that corresponds to the matrix axis `axis` (0 is M, 1 is N); `None` if the
    /// tensor does not extend along it.
    fn axis(self, axis: usize) -> Option<usize> {
        match self {
            Self::Accumulator => Some(axis),
            Self::Operand(side) => (side == axis).then_some(axis),
            Self::Scale(side) => (side == axis).then_some(0),
        }
    }
}

/// Extends the layout of one block's share of a dot's tensor to all blocks of a cluster; `blocks` is
/// [`DotPlan::blocks`].
///
/// # Errors
/// [`LayoutError`] if an output dim of the layout is not a tensor axis.
pub fn extend_over_blocks(
    layout: &LinearLayout,
    blocks: &[Option<usize>],
    tensor: DotTensor,
) -> Result<LinearLayout, LayoutError> {
    if blocks.is_empty() {
        return Ok(layout.clone());
    }
    let layout = to_canonical_dim_order(layout)?;
    let mut shape = tensor_shape_from_layout(&layout);
    let first = shape.len().saturating_sub(2);
    let axes: Vec<_> = blocks.iter().map(|axis| axis.and_then(|axis| tensor.axis(axis)).map(|at| at + first)).collect();
    axes.iter().flatten().for_each(|&axis| shape[axis] *= 2);
    ClusterPartition::from_axes(&shape, &axes).extend_share_to_tensor(&layout, &shape)
}

/// Min number of rows or columns of the result that each block of a cluster computes, unless the program states the
/// layout.
const LEAST_SHARE: u64 = 16;

/// Returns, for each bit of a block's index, the matrix axis (M or N) that it divides. It is the division that the
/// layout of the accumulator states; without a layout, the longer axis is halved first.
fn divide_among_blocks(body: &FunctionBody, op: Op, shape: &[u64; 3], config: &LaunchConfig<'_>) -> Vec<Option<usize>> {
    let block_bits = config.context.blocks.trailing_zeros();
    let explicit = body
        .operand(op, "c")
        .and_then(|value| resolve_distributed_layout(body.value_type(value), config.families).ok());
    if let Some(explicit) = explicit {
        let first = explicit.outs().len().saturating_sub(2);
        let of_matrix = |axis: Option<usize>| axis.and_then(|axis| axis.checked_sub(first));
        return ClusterPartition::from_layout(&explicit, block_bits)
            .axis_of_each_bit()
            .into_iter()
            .map(of_matrix)
            .collect();
    }
    let mut left = [shape[0], shape[1]];
    let halved = |_| {
        let axis = usize::from(left[1] > left[0]);
        let axis = (left[axis] >= 2 * LEAST_SHARE).then_some(axis)?;
        left[axis] /= 2;
        Some(axis)
    };
    (0..block_bits).map(halved).collect()
}

fn impossible(reasons: String) -> MmaError {
    MmaError::Impossible { reasons }
}
