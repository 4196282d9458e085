//! Laws of instruction rows: operands cover their tiles, contractions compute every product once.

use std::collections::BTreeSet;

use tilewright::layout::{Dim, LinearLayout};
use tilewright::target::{Instruction, Operand, Semantics};

use super::super::law::{Checked, broken, case, require, word};
use super::super::walk::covers_evenly;
use crate::{Case, Context};

pub(super) fn cases(context: &Context) -> Vec<Case> {
    let mut cases = vec![case("layouts/instructions/names".to_owned(), unique_names)];
    for row in context.target().instructions() {
        let name = word(&row.name);
        for (index, operand) in row.operands.iter().enumerate() {
            let (label, row) = (label(operand, index), row.clone());
            let check = move |context: &Context| operand_law(context, &row.operands[index]);
            cases.push(case(format!("layouts/instructions/operand/{name}/{label}"), check));
        }
        let multiplies = matches!(row.semantics, Semantics::Contract | Semantics::CountDifferent);
        if multiplies && ["a", "b", "d"].iter().all(|role| register(row, role).is_some()) {
            let row = row.clone();
            cases.push(case(format!("layouts/instructions/products/{name}"), move |_| products(&row)));
        }
    }
    cases
}

fn label(operand: &Operand, index: usize) -> String {
    match operand {
        Operand::Register { role, .. } => format!("{index}-{}", word(role)),
        Operand::Access { .. } => format!("{index}-access"),
        _ => index.to_string(),
    }
}

/// The layout of the register operand of a role.
pub(super) fn register<'a>(row: &'a Instruction, wanted: &str) -> Option<&'a LinearLayout> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, layout, .. } if role == wanted => Some(layout),
        _ => None,
    })
}

fn unique_names(context: &Context) -> Checked {
    let mut seen = BTreeSet::new();
    let twice = context.target().instructions().iter().find(|row| !seen.insert(&row.name));
    require(twice.is_none(), || format!("two rows are named `{}`", twice.map_or("", |row| &row.name)))
}

fn operand_law(context: &Context, operand: &Operand) -> Checked {
    match operand {
        Operand::Register { bits, layout, .. } => {
            require(bits.is_power_of_two(), || format!("elements of {bits} bits"))?;
            has_dims(layout, &[Dim::REGISTER, Dim::LANE])?;
            lanes_of(context, layout)?;
            covers_evenly(layout).map(drop).map_err(broken)
        }
        Operand::Access { data, address, alignment } => access(context, data, address, *alignment),
        _ => Ok(()),
    }
}

/// Every byte of every slot is moved, every slot has its address, and addresses are no more
/// aligned than slots are long.
fn access(context: &Context, data: &LinearLayout, address: &LinearLayout, alignment: u32) -> Checked {
    let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
    has_dims(data, &[Dim::REGISTER, Dim::LANE, byte])?;
    lanes_of(context, data)?;
    covers_evenly(data).map_err(broken)?;
    has_dims(address, &[Dim::LANE])?;
    covers_evenly(address).map_err(broken)?;
    let (moved, addressed) = (data.out_bits(slot), address.out_bits(slot));
    require(moved == addressed, || format!("2^{moved} slots are moved, 2^{addressed} addressed"))?;
    let length = 1u64 << data.out_bits(byte);
    require(alignment.is_power_of_two() && length.is_multiple_of(u64::from(alignment)), || {
        format!("slots of {length} bytes cannot follow each other at an alignment of {alignment}")
    })
}

fn has_dims(layout: &LinearLayout, expected: &[Dim]) -> Checked {
    let found: Vec<_> = layout.ins().dims().collect();
    require(found == expected, || format!("its inputs are {found:?}, not {expected:?}"))
}

fn lanes_of(context: &Context, layout: &LinearLayout) -> Checked {
    let choices = &context.target().description().lanes.choices;
    let lanes = 1u64 << layout.in_bits(Dim::LANE);
    require(choices.iter().any(|&choice| u64::from(choice) == lanes), || {
        format!("{lanes} lanes, but a warp of the target has one of {choices:?}")
    })
}

/// The tiles fit each other, so that (m, n, k) means one product; each result is held in one place
/// only, so that each product is added once; and both factors of every product are held.
fn products(row: &Instruction) -> Checked {
    let operand = |role| register(row, role).ok_or_else(|| broken(format!("there is no operand `{role}`")));
    let (a, b, d) = (operand("a")?, operand("b")?, operand("d")?);
    let (first, second, block) = (Dim::tensor(0), Dim::tensor(1), Dim::tensor(2));
    let sides = [
        ("M", a.out_bits(first), d.out_bits(first)),
        ("N", b.out_bits(second), d.out_bits(second)),
        ("K", a.out_bits(second), b.out_bits(first)),
        ("blocks of a", a.out_bits(block), d.out_bits(block)),
        ("blocks of b", b.out_bits(block), d.out_bits(block)),
    ];
    for (side, left, right) in sides {
        require(left == right, || format!("{side} is 2^{left} on one side and 2^{right} on the other"))?;
    }
    for (role, layout) in [("a", a), ("b", b)] {
        covers_evenly(layout).map_err(|message| broken(format!("factor {role}: {message}")))?;
    }
    let copies = covers_evenly(d).map_err(broken)?;
    require(copies == 1, || format!("each result is held {copies} times"))?;
    match register(row, "c") {
        Some(c) => require(c == d, || format!("the result lies elsewhere than what it is added to\n{c}\nand\n{d}")),
        None => Ok(()),
    }
}
