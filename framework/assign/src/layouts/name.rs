//! From a layout to the name by which types say it.

use std::fmt::Write;

use tilewright_layout::families::Neutral;
use tilewright_layout::{Dim, Families, FamilyAttribute, FamilySpec, Layout, LinearLayout};
use tilewright_tile::LayoutName;

/// The name of a layout of registers: `#ttg.blocked<...>` where it is one, else `#ttg.linear<...>`. Equal layouts have
/// equal names.
#[must_use]
pub fn name(layout: &LinearLayout) -> LayoutName {
    blocked(layout).unwrap_or_else(|| linear(layout))
}

const INPUTS: [(Dim, &str); 4] =
    [(Dim::REGISTER, "register"), (Dim::LANE, "lane"), (Dim::WARP, "warp"), (Dim::BLOCK, "block")];

/// All bases, one by one.
fn linear(layout: &LinearLayout) -> LayoutName {
    let mut text = String::from("#ttg.linear<{");
    let mut spec = FamilySpec::new("linear");
    for (number, (dim, word)) in INPUTS.into_iter().enumerate() {
        let bases = layout.bases_of(dim);
        let lists: Vec<String> = bases.iter().map(|basis| list(basis)).collect();
        let separator = if number == 0 { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}{word} = [{}]", lists.join(", "));
        spec = spec.with(word, FamilyAttribute::List(bases.iter().map(|basis| numbers(basis)).collect()));
    }
    text.push_str("}>");
    LayoutName::new(spec, text)
}

/// The blocked layout that this is, if it is one of one block.
fn blocked(layout: &LinearLayout) -> Option<LayoutName> {
    if layout.in_bits(Dim::BLOCK) > 0 {
        return None;
    }
    let rank = layout.outs().len();
    let shape: Vec<u64> = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
    let order = order_of(layout)?;
    // Registers beyond the first vector repeat the block: try each vector that the registers begin with.
    for vector in (0..=layout.in_bits(Dim::REGISTER) as usize).rev() {
        let registers = layout.columns_of(Dim::REGISTER).get(..vector)?;
        let sizes = [registers, layout.columns_of(Dim::LANE), layout.columns_of(Dim::WARP)]
            .map(|columns| sizes_of(layout, columns, rank));
        let [Some(registers), Some(mut lanes), Some(mut warps)] = sizes else { continue };
        // Copies are lanes and warps beyond the shape, along the slowest axis.
        let slowest = *order.last()?;
        for (dim, sizes) in [(Dim::LANE, &mut lanes), (Dim::WARP, &mut warps)] {
            let held: u64 = sizes.iter().product();
            sizes[slowest] *= (1u64 << layout.in_bits(dim)) / held;
        }
        let parameters = [
            ("size_per_thread", "sizePerThread", registers),
            ("threads_per_warp", "threadsPerWarp", lanes),
            ("warps_per_cta", "warpsPerCTA", warps),
            ("order", "order", order.iter().map(|&axis| axis as u64).collect()),
        ];
        let spec = parameters
            .iter()
            .fold(FamilySpec::new("blocked"), |spec, (parameter, _, values)| spec.with(parameter, numbers(values)));
        if Neutral.resolve(&spec, &shape, &Neutral) == Ok(Layout::Distributed(layout.clone())) {
            let words: Vec<String> =
                parameters.iter().map(|(_, word, values)| format!("{word} = {}", list(values))).collect();
            return Some(LayoutName::new(spec, format!("#ttg.blocked<{{{}}}>", words.join(", "))));
        }
    }
    None
}

/// The axes in the order in which registers, lanes and warps first move along them, then the last one first.
fn order_of(layout: &LinearLayout) -> Option<Vec<usize>> {
    let mut order = Vec::new();
    for &column in [Dim::REGISTER, Dim::LANE, Dim::WARP].iter().flat_map(|&dim| layout.columns_of(dim)) {
        if column == 0 {
            continue;
        }
        let axis = column.is_power_of_two().then(|| axis_of(layout, column)).flatten()?;
        if !order.contains(&axis) {
            order.push(axis);
        }
    }
    order.extend((0..layout.outs().len()).rev().filter(|axis| !order.contains(axis)).collect::<Vec<_>>());
    Some(order)
}

/// The axis along which a column moves.
fn axis_of(layout: &LinearLayout, column: u64) -> Option<usize> {
    layout.outs().unpack(column).find(|&(_, by)| by != 0).and_then(|(dim, _)| dim.tensor_axis())
}

/// How far columns reach along each axis, by how many of them move along it; copies aside.
fn sizes_of(layout: &LinearLayout, columns: &[u64], rank: usize) -> Option<Vec<u64>> {
    let mut sizes = vec![1u64; rank];
    for &column in columns.iter().filter(|&&column| column != 0) {
        *sizes.get_mut(axis_of(layout, column)?)? <<= 1;
    }
    Some(sizes)
}

fn list(values: &[u64]) -> String {
    format!("[{}]", values.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

fn numbers(values: &[u64]) -> FamilyAttribute {
    FamilyAttribute::List(
        values.iter().map(|&value| FamilyAttribute::Int(i64::try_from(value).unwrap_or(i64::MAX))).collect(),
    )
}
