//! Products of tensors: what is asked of [`tilewright_plan::contract`], and the layouts that its plan gives to the operands.
//!
//! The question follows from the program alone, and a question has one plan: whoever lowers the program asks again, and
//! gets the plan whose layouts the operands have.

use super::LaunchConfig;
use super::chain;
use super::layouts::{LayoutTransfer, in_order};
use tilewright_layout::{Dim, LayoutError, LinearLayout};
use tilewright_plan::contract::{ContractError, Contraction, MmaProblem, Scale, WarpPartition, plan};
use tilewright_target::ElementType;
use tilewright_tile::marks::{EXCHANGED, INSTRUCTION, K_WIDTH, LANES_ALONG, N_WIDTH, PENDING, WARPS_ALONG, WHOLE_ROWS};
use tilewright_tile::{Attribute, Attributes, Body, Op, TileType};

/// Layouts of the operands of a product, as tile values.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// How one matrix is multiplied.
    pub plan: Contraction,
    /// The layouts of both factors; none where the unit reads the factor from memory, so that any layout will do.
    pub factors: [Option<LinearLayout>; 2],
    /// The layouts of the scales, where there are any that have one.
    pub scales: [Option<LinearLayout>; 2],
    /// The layout of the sums.
    pub accumulator: LinearLayout,
    /// Of several matrices how many, and who multiplies which.
    pub batches: Option<Batches>,
}

/// The operands of a product that have layouts.
pub(super) const OPERANDS: [&str; 5] = ["a", "b", "c", "a_scale", "b_scale"];

impl Product {
    /// The layouts of [`OPERANDS`]; none of what is taken in any.
    pub(super) fn layouts(&self) -> [Option<&LinearLayout>; 5] {
        let ([a, b], [a_scale, b_scale]) = (&self.factors, &self.scales);
        [a.as_ref(), b.as_ref(), Some(&self.accumulator), a_scale.as_ref(), b_scale.as_ref()]
    }
}

/// Several matrices, one after the other along the first axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    /// How many.
    pub count: u64,
    /// Log2 of the groups of warps that have different ones.
    pub groups: u32,
}

impl Batches {
    /// How many each warp has, in its highest registers.
    #[must_use]
    pub fn of_a_warp(self) -> u64 {
        self.count >> self.groups
    }
}

/// Where so many products or fewer are before each other, a product counts the ways from the sums of those before it.
const LONGEST_CHAIN: u32 = 3;

/// How a `tt.dot` or `tt.dot_scaled` is carried out.
///
/// # Errors
/// [`ContractError`]: no unit of the target can do it.
pub fn product(body: &Body, op: Op, machine: &LaunchConfig<'_>) -> Result<Product, ContractError> {
    let problem = problem(body, op, machine.lanes, machine.warps)?;
    let attributes = &body.op(op).attributes;
    let (batches, packed) = (batches(body, op), packed(body, op));
    let makers = chain::makers(body, op);
    let chained = attributes.get(WHOLE_ROWS).is_some() || chain::is_operand(body, op);
    let linked = chained || makers != [None, None];
    // Whoever says the unit has weighed the ways of factors, and what goes on by itself reads them from memory.
    let is_open = problem.unit.is_none() && attributes.get(PENDING).is_none() && batches.is_none();
    let mut made = [None, None];
    if is_open && packed == [None, None] && chain::length(body, op) <= LONGEST_CHAIN {
        for (made, maker) in made.iter_mut().zip(makers) {
            let accumulator =
                maker.map(|maker| product(body, maker, machine)).transpose()?.map(|maker| maker.accumulator);
            *made = accumulator.map(|accumulator| in_order(&accumulator)).transpose()?;
        }
    }
    let (plan, batches) = warp_partition(&MmaProblem { chained, linked, made, ..problem }, batches, machine)?;
    let factor = |side: usize| -> Result<Option<LinearLayout>, ContractError> {
        let layout = [&plan.a, &plan.b][side];
        if layout.ins().contains(Dim::OFFSET) {
            return Ok(None);
        }
        let whole = over_chunks(layout, 1 - side, plan.problem.shape[2])?;
        let held = match packed[side] {
            Some(axis) => LayoutTransfer::Halved(axis).of(&whole)?,
            None => whole,
        };
        Ok(Some(over_batches(&held, batches)?))
    };
    let scale = |side: usize| -> Result<Option<LinearLayout>, ContractError> {
        let (Some(layout), Some(scale)) = (&plan.scales[side], plan.problem.scales[side]) else { return Ok(None) };
        let blocks = (plan.problem.shape[2] / scale.block).max(1);
        let whole = over_chunks(layout, 1, blocks)?;
        // The plan has a register for each of the factor's; as tile values scales are held once.
        let held = LayoutTransfer::Cut(Vec::new()).of(&whole)?;
        Ok(Some(over_batches(&held, batches)?))
    };
    let (factors, scales) = ([factor(0)?, factor(1)?], [scale(0)?, scale(1)?]);
    let accumulator = over_batches(&plan.c, batches)?;
    Ok(Product { factors, scales, accumulator, plan, batches })
}

/// The plan of one matrix by all warps; of several by fewer warps each, so that no two warps hold the same, where the same
/// unit does it from registers.
fn warp_partition(
    problem: &MmaProblem,
    count: Option<u64>,
    machine: &LaunchConfig<'_>,
) -> Result<(Contraction, Option<Batches>), ContractError> {
    let whole = match plan(problem, machine.context) {
        Err(ContractError::Impossible { .. }) if problem.chained => {
            plan(&MmaProblem { chained: false, ..problem.clone() }, machine.context)?
        }
        other => other?,
    };
    let Some(count) = count else { return Ok((whole, None)) };
    let in_registers = |plan: &Contraction| [&plan.a, &plan.b].iter().all(|factor| !factor.ins().contains(Dim::OFFSET));
    let most = count.trailing_zeros().min(problem.warps.trailing_zeros());
    for groups in (1..=most).rev() {
        let fewer = MmaProblem { warps: problem.warps >> groups, chained: whole.problem.chained, ..problem.clone() };
        match plan(&fewer, machine.context) {
            Ok(own) if own.row() == whole.row() && in_registers(&own) => {
                return Ok((own, Some(Batches { count, groups })));
            }
            Ok(_) | Err(ContractError::Impossible { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    Ok((whole, Some(Batches { count, groups: 0 })))
}

/// What a `tt.dot` or `tt.dot_scaled` asks, of one matrix where it multiplies several.
///
/// # Errors
/// [`ContractError::Impossible`] for types that no product has.
pub fn problem(body: &Body, op: Op, lanes: u32, warps: u32) -> Result<MmaProblem, ContractError> {
    let shape = |group: &str| body.operand(op, group).and_then(|value| body.ty(value).shape()).unwrap_or_default();
    let (a, c) = (shape("a"), shape("c"));
    let rank = c.len();
    if rank < 2 || a.len() != rank {
        return Err(impossible("factors and sums have two axes or three".to_owned()));
    }
    let [(a_number, a_scale), (b_number, b_scale)] = [factor(body, op, 0)?, factor(body, op, 1)?];
    let k = a[rank - 1] * if packed(body, op)[0] == Some(1) { 2 } else { 1 };
    let accumulator = body.operand(op, "c").map(|value| body.ty(value).element());
    // Nothing adds up in numbers of eight bits and fewer.
    let accumulator = accumulator.filter(|ty| !matches!(ty, TileType::Float(float) if float.bits() < 16));
    let accumulator =
        accumulator.and_then(of_type).ok_or_else(|| impossible("no product has sums of this type".to_owned()))?;
    let shape = [c[rank - 2], c[rank - 1], k];
    let requested =
        MmaProblem::new(shape, [a_number, b_number, accumulator], lanes, warps).with_scales([a_scale, b_scale]);
    let attributes = &body.op(op).attributes;
    let unit = attributes.get(INSTRUCTION).and_then(Attribute::as_text).map(str::to_owned);
    let number = |name: &str| attributes.get(name).and_then(Attribute::as_integer).and_then(|n| u64::try_from(n).ok());
    let warp_partition = shared_out_as_said(attributes)?;
    Ok(MmaProblem { unit, warp_partition, k_width: number(K_WIDTH), n_width: number(N_WIDTH), ..requested })
}

fn shared_out_as_said(attributes: &Attributes) -> Result<Option<WarpPartition>, ContractError> {
    let Some(explicit) = attributes.get(WARPS_ALONG) else { return Ok(None) };
    let warps = match explicit {
        Attribute::Array(_, warps) => <[u64; 2]>::try_from(&warps[..]).ok(),
        _ => None,
    };
    let Some(warps) = warps else {
        return Err(impossible(format!(
            "`{WARPS_ALONG}` is `array<i64: M, N>`, warps along M and along N; it says {explicit}"
        )));
    };
    let lanes = attributes.get(LANES_ALONG).and_then(Attribute::as_integer).and_then(|n| u64::try_from(n).ok());
    Ok(Some(WarpPartition { swap_ab: attributes.get(EXCHANGED).is_some(), warps, lanes }))
}

/// Says in the attributes of a product by which unit it is carried out, and how that is shared out.
pub(super) fn say(attributes: &mut Attributes, problem: &MmaProblem) {
    let number = |value: u64| Attribute::integer(value as i64, TileType::integer(32));
    if let Some(unit) = &problem.unit {
        attributes.set(INSTRUCTION, Attribute::Text(unit.as_str().into()));
    }
    let shared = problem.warp_partition;
    let numbers =
        [(K_WIDTH, problem.k_width), (N_WIDTH, problem.n_width), (LANES_ALONG, shared.and_then(|shared| shared.lanes))];
    for (name, value) in numbers {
        value.map(|value| attributes.set(name, number(value)));
    }
    if let Some(WarpPartition { swap_ab, warps, .. }) = shared {
        attributes.set(WARPS_ALONG, Attribute::Array(TileType::integer(64), warps.to_vec()));
        swap_ab.then(|| attributes.set(EXCHANGED, Attribute::Unit));
    }
}

/// The elements of a factor, and its scales.
fn factor(body: &Body, op: Op, side: usize) -> Result<(ElementType, Option<Scale>), ContractError> {
    let (group, scale_group, kind) = [("a", "a_scale", "a_elem_type"), ("b", "b_scale", "b_elem_type")][side];
    let operation = body.op(op);
    let ty = body.operand(op, group).map(|value| body.ty(value).element());
    let ty = ty.ok_or_else(|| impossible(format!("it has no factor `{group}`")))?;
    let unknown = || impossible(format!("no product has factors of `{ty}`"));
    let Some(kind) = operation.attributes.get(kind).and_then(Attribute::as_text) else {
        let precision = operation.attributes.get("inputPrecision").and_then(Attribute::as_text).unwrap_or("ieee");
        let number = match (ty, precision) {
            // What is to have more digits than a unit's is done in full ones.
            (TileType::Float(tilewright_tile::Float::F32), "tf32") => ElementType::named("tf32"),
            _ => of_type(ty),
        };
        return Ok((number.ok_or_else(unknown)?, None));
    };
    let number = ElementType::named(if kind == "fp16" { "f16" } else { kind }).ok_or_else(unknown)?;
    let Some(scale) = body.operand(op, scale_group) else { return Ok((number, None)) };
    let blocks = body.ty(scale).shape().and_then(|shape| shape.last().copied()).unwrap_or(1).max(1);
    let shape = body.operand(op, "a").and_then(|value| body.ty(value).shape()).unwrap_or_default();
    let k = shape.last().copied().unwrap_or(1) * if packed(body, op)[0] == Some(1) { 2 } else { 1 };
    let kept = match body.ty(scale).element() {
        // Products read them without a sign, as PTX names them.
        TileType::Float(tilewright_tile::Float::F8E4M3Fn) => ElementType::named("ue4m3"),
        other => of_type(other).filter(|number| number.is_float()),
    };
    let scale_number = kept.or_else(|| ElementType::named("e8m0")).ok_or_else(unknown)?;
    Ok((number, Some(Scale { number: scale_number, block: (k / blocks).max(1), exponents: None })))
}

/// What a type's bits mean in a product: integers have signs.
pub(crate) fn of_type(ty: &TileType) -> Option<ElementType> {
    match ty {
        TileType::Integer(bits, _) => Some(ElementType::Integer { bits: *bits, signed: true }),
        TileType::Float(float) => Some(ElementType::Float(float.format())),
        _ => None,
    }
}

/// Along which axis of a factor's matrix two elements of four bits lie in one of its tensor's.
fn packed(body: &Body, op: Op) -> [Option<usize>; 2] {
    let attributes = &body.op(op).attributes;
    let narrow = |kind: &str| attributes.get(kind).and_then(Attribute::as_text) == Some("e2m1");
    let along_k = |name: &str| attributes.get(name).and_then(Attribute::as_integer) != Some(0);
    let of =
        |kind: &str, pack: &str, k_axis: usize| narrow(kind).then(|| if along_k(pack) { k_axis } else { 1 - k_axis });
    [of("a_elem_type", "lhs_k_pack", 1), of("b_elem_type", "rhs_k_pack", 0)]
}

/// How many matrices are multiplied, where the tensors have three axes.
fn batches(body: &Body, op: Op) -> Option<u64> {
    let shape = body.operand(op, "c").and_then(|value| body.ty(value).shape()).unwrap_or_default();
    (shape.len() > 2).then(|| shape[0])
}

/// The layout over all of an axis from that of a part of it: the parts are one after the other, in registers.
fn over_chunks(layout: &LinearLayout, axis: usize, size: u64) -> Result<LinearLayout, LayoutError> {
    let mut whole = in_order(layout)?;
    while 1u64 << whole.out_bits(Dim::tensor(axis)) < size {
        whole = LayoutTransfer::Stacked(axis).of(&whole)?;
    }
    Ok(whole)
}

/// The layout of several matrices: groups of warps have different ones, then registers.
pub fn over_batches(layout: &LinearLayout, batches: Option<Batches>) -> Result<LinearLayout, LayoutError> {
    let Some(Batches { count, groups }) = batches else { return Ok(layout.clone()) };
    let mut all = LayoutTransfer::With(0).of(&in_order(layout)?)?;
    for _ in 0..groups {
        all = LayoutTransfer::Warped(0).of(&all)?;
    }
    while 1u64 << all.out_bits(Dim::tensor(0)) < count {
        all = LayoutTransfer::Stacked(0).of(&all)?;
    }
    Ok(all)
}

fn impossible(reasons: String) -> ContractError {
    ContractError::Impossible { reasons }
}
