//! Checks of sample layouts for instruction operands: the tile that the layout family builds is the instruction's tile.
//!
//! Registers may be permuted, since generated code numbers them freely. K may be permuted too, if the permutation is
//! the same for both operands, since a dot does not depend on the order of its additions.

use std::collections::BTreeSet;

use tilewright_layout::{Dim, InstructionOperandReference, LinearLayout, SampleLayout, SampleLayoutRequest};

use super::super::KernelConfig;
use super::super::law::{LawResult, case, case_name_part, distributed, law_failure, require};
use super::instructions::register;
use crate::{Case, Context, Verdict};

pub(super) fn cases(context: &Context) -> Vec<Case> {
    let mut cases = Vec::new();
    // A tile belongs to one warp, so numbers of warps make no difference.
    for setting in KernelConfig::all(context).into_iter().filter(|setting| setting.warps == 1) {
        let samples = context.sample_layouts(setting.sample_use());
        let operand_samples: Vec<_> =
            samples.iter().filter_map(|sample| Some((sample, sample.operand.as_ref()?))).collect();
        for &(sample, operand) in &operand_samples {
            let name = format!(
                "layouts/operands/{}/{}/{}/{setting}",
                case_name_part(&operand.instruction),
                operand.role,
                sample.name
            );
            let (sample, operand) = (sample.clone(), operand.clone());
            let uses = setting.sample_use();
            cases.push(case(name, move |context| tile(context, &sample, &operand, uses)));
        }
        for (a, b) in operand_pairs(&operand_samples) {
            let name =
                format!("layouts/operands/{}/k/{}+{}/{setting}", case_name_part(&a.1.instruction), a.0.name, b.0.name);
            let (a, b) = ((a.0.clone(), a.1.clone()), (b.0.clone(), b.1.clone()));
            let uses = setting.sample_use();
            cases.push(case(name, move |context| one_order_of_k(context, (&a.0, &a.1), (&b.0, &b.1), uses)));
        }
    }
    cases
}

type OperandSample<'a> = (&'a SampleLayout, &'a InstructionOperandReference);

/// Returns the pairs of samples that are operands A and B of one instruction and derived from one result layout.
fn operand_pairs<'a>(operand_samples: &[OperandSample<'a>]) -> Vec<(OperandSample<'a>, OperandSample<'a>)> {
    let of = |role: &'static str| operand_samples.iter().filter(move |(_, operand)| operand.role == role);
    let pairs = of("a").flat_map(|a| of("b").map(move |b| (*a, *b)));
    pairs.filter(|(a, b)| a.1.instruction == b.1.instruction && a.0.spec.parent == b.0.spec.parent).collect()
}

/// Returns the operand's layout in the instruction table, and the sample's layout for a tensor of the tile's size.
fn operand_and_sample(
    context: &Context,
    sample: &SampleLayout,
    operand: &InstructionOperandReference,
    uses: SampleLayoutRequest,
) -> Result<(LinearLayout, LinearLayout), Verdict> {
    let rows = context.target().instructions();
    let row = rows.iter().find(|row| row.name == operand.instruction);
    let row = row.ok_or_else(|| law_failure(format!("there is no instruction `{}`", operand.instruction)))?;
    let of_row = register(row, &operand.role)
        .ok_or_else(|| law_failure(format!("`{}` has no register operand `{}`", row.name, operand.role)))?;
    require(of_row.in_bits(Dim::LANE) == uses.lanes.trailing_zeros(), || {
        format!("`{}` is for 2^{} lanes, the sample for {}", row.name, of_row.in_bits(Dim::LANE), uses.lanes)
    })?;
    if of_row.outs().len() != 2 {
        return Err(Verdict::unsupported("families of several independent tiles have no samples of two axes"));
    }
    let shape: Vec<_> = of_row.outs().iter().map(|(_, bits)| 1u64 << bits).collect();
    let sample_layout = distributed(context, &sample.spec, &shape)?
        .ok_or_else(|| law_failure("the sample is not a distributed layout"))?;
    Ok((of_row.clone(), sample_layout))
}

/// Checks that the sample's layout of one tile equals the operand's, up to a permutation of registers and, for A and B,
/// of K.
fn tile(
    context: &Context,
    sample: &SampleLayout,
    operand: &InstructionOperandReference,
    uses: SampleLayoutRequest,
) -> LawResult {
    let (row, sample_layout) = operand_and_sample(context, sample, operand, uses)?;
    let fits = match k_axis(operand) {
        Some(axis) => !orders_of_k(&row, &sample_layout, axis).is_empty(),
        None => same_tile(&row.bases_of(Dim::REGISTER), &row.bases_of(Dim::LANE), &sample_layout),
    };
    require(fits, || format!("the instruction's layout is\n{row}\nthe family's is\n{sample_layout}"))
}

/// Checks that one permutation of K makes both operands' samples equal to the instruction's layouts.
fn one_order_of_k(
    context: &Context,
    a: OperandSample<'_>,
    b: OperandSample<'_>,
    uses: SampleLayoutRequest,
) -> LawResult {
    let orders = |(sample, operand): OperandSample<'_>, axis| {
        let (row, sample_layout) = operand_and_sample(context, sample, operand, uses)?;
        Ok(orders_of_k(&row, &sample_layout, axis))
    };
    let (of_a, of_b): (BTreeSet<_>, BTreeSet<_>) = (orders(a, 1)?, orders(b, 0)?);
    require(!of_a.is_disjoint(&of_b), || {
        format!("`{}` needs K in one of the orders {of_a:?}, `{}` in one of {of_b:?}", a.0.name, b.0.name)
    })
}

/// Returns the axis of an operand that is K; `None` for operands other than A and B.
fn k_axis(operand: &InstructionOperandReference) -> Option<usize> {
    match operand.role.as_str() {
        "a" => Some(1),
        "b" => Some(0),
        _ => None,
    }
}

/// Returns the permutations of the bits of coordinate `axis` that turn the instruction's layout into the sample's.
fn orders_of_k(row: &LinearLayout, sample_layout: &LinearLayout, axis: usize) -> BTreeSet<Vec<u32>> {
    let bits = row.out_bits(Dim::tensor(axis));
    let fits = |order: &Vec<u32>| {
        let moved = |coordinate: u64| (0..bits).map(|bit| (coordinate >> bit & 1) << order[bit as usize]).sum::<u64>();
        let reorder = |dim| {
            let mut bases = row.bases_of(dim);
            bases.iter_mut().for_each(|basis| basis[axis] = moved(basis[axis]));
            bases
        };
        same_tile(&reorder(Dim::REGISTER), &reorder(Dim::LANE), sample_layout)
    };
    orders(bits).into_iter().filter(fits).collect()
}

/// Returns all permutations of `bits` bits.
fn orders(bits: u32) -> Vec<Vec<u32>> {
    (0..bits).fold(vec![Vec::new()], |orders, next| {
        let insert = |order: Vec<u32>| {
            (0..=order.len()).map(move |at| {
                let mut longer = order.clone();
                longer.insert(at, next);
                longer
            })
        };
        orders.into_iter().flat_map(insert).collect()
    })
}

/// Whether a sample's layout for one warp and one block has the given lane bases in order, and the given register bases
/// in any order.
fn same_tile(registers: &[Vec<u64>], lanes: &[Vec<u64>], sample_layout: &LinearLayout) -> bool {
    let as_set = |bases: &[Vec<u64>]| {
        let mut bases = bases.to_vec();
        bases.sort();
        bases
    };
    lanes == sample_layout.bases_of(Dim::LANE) && as_set(registers) == as_set(&sample_layout.bases_of(Dim::REGISTER))
}
