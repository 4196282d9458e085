//! Samples that feed an instruction: the family's tile is the operand's.
//!
//! Registers may come in another order: code that is emitted numbers them as it likes. K may come in
//! another order too, as long as it is one for both factors: a sum does not ask in which order.

use std::collections::BTreeSet;

use tilewright_layout::{Dim, LinearLayout, Sample, SampleOperand, SampleUse};

use super::super::Setting;
use super::super::law::{Checked, broken, case, distributed, require, word};
use super::instructions::register;
use crate::{Case, Context, Verdict};

pub(super) fn cases(context: &Context) -> Vec<Case> {
    let mut cases = Vec::new();
    // A tile is one warp's.
    for setting in Setting::all(context).into_iter().filter(|setting| setting.warps == 1) {
        let samples = context.samples(setting.sample_use());
        let feeding: Vec<_> = samples.iter().filter_map(|sample| Some((sample, sample.operand.as_ref()?))).collect();
        for &(sample, operand) in &feeding {
            let name =
                format!("layouts/operands/{}/{}/{}/{setting}", word(&operand.instruction), operand.role, sample.name);
            let (sample, operand) = (sample.clone(), operand.clone());
            let uses = setting.sample_use();
            cases.push(case(name, move |context| tile(context, &sample, &operand, uses)));
        }
        for (a, b) in factors(&feeding) {
            let name = format!("layouts/operands/{}/k/{}+{}/{setting}", word(&a.1.instruction), a.0.name, b.0.name);
            let (a, b) = ((a.0.clone(), a.1.clone()), (b.0.clone(), b.1.clone()));
            let uses = setting.sample_use();
            cases.push(case(name, move |context| one_order_of_k(context, (&a.0, &a.1), (&b.0, &b.1), uses)));
        }
    }
    cases
}

type Feeding<'a> = (&'a Sample, &'a SampleOperand);

/// The samples that are factors of one product: of one instruction, derived from one result.
fn factors<'a>(feeding: &[Feeding<'a>]) -> Vec<(Feeding<'a>, Feeding<'a>)> {
    let of = |role: &'static str| feeding.iter().filter(move |(_, operand)| operand.role == role);
    let pairs = of("a").flat_map(|a| of("b").map(move |b| (*a, *b)));
    pairs.filter(|(a, b)| a.1.instruction == b.1.instruction && a.0.spec.parent == b.0.spec.parent).collect()
}

/// The operand's layout and the sample's for a tensor of the tile's size.
fn both(
    context: &Context,
    sample: &Sample,
    operand: &SampleOperand,
    uses: SampleUse,
) -> Result<(LinearLayout, LinearLayout), Verdict> {
    let rows = context.target().instructions();
    let row = rows.iter().find(|row| row.name == operand.instruction);
    let row = row.ok_or_else(|| broken(format!("there is no instruction `{}`", operand.instruction)))?;
    let of_row = register(row, &operand.role)
        .ok_or_else(|| broken(format!("`{}` has no register operand `{}`", row.name, operand.role)))?;
    require(of_row.in_bits(Dim::LANE) == uses.lanes.trailing_zeros(), || {
        format!("`{}` is for 2^{} lanes, the sample for {}", row.name, of_row.in_bits(Dim::LANE), uses.lanes)
    })?;
    if of_row.outs().len() != 2 {
        return Err(Verdict::unsupported("families of several independent tiles have no samples of two axes"));
    }
    let shape: Vec<_> = of_row.outs().iter().map(|(_, bits)| 1u64 << bits).collect();
    let own =
        distributed(context, &sample.spec, &shape)?.ok_or_else(|| broken("the sample is no distributed layout"))?;
    Ok((of_row.clone(), own))
}

/// The sample's layout of one tile is the operand's, up to the order of registers and, for a
/// factor, of K.
fn tile(context: &Context, sample: &Sample, operand: &SampleOperand, uses: SampleUse) -> Checked {
    let (row, own) = both(context, sample, operand, uses)?;
    let fits = match k_axis(operand) {
        Some(axis) => !orders_of_k(&row, &own, axis).is_empty(),
        None => same_tile(&row.bases_of(Dim::REGISTER), &row.bases_of(Dim::LANE), &own),
    };
    require(fits, || format!("the instruction takes\n{row}\nthe family gives\n{own}"))
}

/// Some order of K serves both factors.
fn one_order_of_k(context: &Context, a: Feeding<'_>, b: Feeding<'_>, uses: SampleUse) -> Checked {
    let orders = |(sample, operand): Feeding<'_>, axis| {
        let (row, own) = both(context, sample, operand, uses)?;
        Ok(orders_of_k(&row, &own, axis))
    };
    let (of_a, of_b): (BTreeSet<_>, BTreeSet<_>) = (orders(a, 1)?, orders(b, 0)?);
    require(!of_a.is_disjoint(&of_b), || {
        format!("`{}` needs K in one of the orders {of_a:?}, `{}` in one of {of_b:?}", a.0.name, b.0.name)
    })
}

/// The axis along which a factor is summed.
fn k_axis(operand: &SampleOperand) -> Option<usize> {
    match operand.role.as_str() {
        "a" => Some(1),
        "b" => Some(0),
        _ => None,
    }
}

/// The orders of the bits of coordinate `axis` in which the row is the sample's layout.
fn orders_of_k(row: &LinearLayout, own: &LinearLayout, axis: usize) -> BTreeSet<Vec<u32>> {
    let bits = row.out_bits(Dim::tensor(axis));
    let fits = |order: &Vec<u32>| {
        let moved = |coordinate: u64| (0..bits).map(|bit| (coordinate >> bit & 1) << order[bit as usize]).sum::<u64>();
        let reorder = |dim| {
            let mut bases = row.bases_of(dim);
            bases.iter_mut().for_each(|basis| basis[axis] = moved(basis[axis]));
            bases
        };
        same_tile(&reorder(Dim::REGISTER), &reorder(Dim::LANE), own)
    };
    orders(bits).into_iter().filter(fits).collect()
}

/// All orders of so many bits.
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

/// Whether a sample's layout of one block of one warp has the given bases of lanes, and those of
/// registers in any order.
fn same_tile(registers: &[Vec<u64>], lanes: &[Vec<u64>], own: &LinearLayout) -> bool {
    let as_set = |bases: &[Vec<u64>]| {
        let mut bases = bases.to_vec();
        bases.sort();
        bases
    };
    lanes == own.bases_of(Dim::LANE) && as_set(registers) == as_set(&own.bases_of(Dim::REGISTER))
}
