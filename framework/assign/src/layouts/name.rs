//! Names layouts: from a layout to the attribute by which types refer to it.

use std::fmt::Write;

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, FamilyParameterValue, FamilySpec, Layout, LinearLayout};
use tilewright_tile::LayoutAttribute;

/// Returns the name of a distributed layout: `#ttg.blocked<...>` if the layout is blocked, else its bases as
/// `#ttg.linear<...>` or `#ttg.generic_linear<...>`. Equal layouts have equal names.
#[must_use]
pub fn format_layout_attribute(layout: &LinearLayout) -> LayoutAttribute {
    blocked(layout).unwrap_or_else(|| linear(layout))
}

const INPUTS: [(Dim, &str); 4] =
    [(Dim::REGISTER, "register"), (Dim::LANE, "lane"), (Dim::WARP, "warp"), (Dim::BLOCK, "block")];

/// Names a layout by its bases: as `#ttg.linear`, or as `#ttg.generic_linear` if a basis moves several bits of
/// coordinates, or two bases move one bit.
fn linear(layout: &LinearLayout) -> LayoutAttribute {
    let family = if layout.is_distributed() { "linear" } else { "generic_linear" };
    let mut text = format!("#ttg.{family}<{{");
    let mut spec = FamilySpec::new(family);
    for (index, (dim, word)) in INPUTS.into_iter().enumerate() {
        let bases = layout.bases_of(dim);
        let lists: Vec<String> = bases.iter().map(|basis| list(basis)).collect();
        let separator = if index == 0 { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(text, "{separator}{word} = [{}]", lists.join(", "));
        spec =
            spec.with_parameter(word, FamilyParameterValue::List(bases.iter().map(|basis| numbers(basis)).collect()));
    }
    text.push_str("}>");
    LayoutAttribute::new(spec, text)
}

/// Names a layout as `#ttg.blocked`; `None` if it is not blocked or spans several blocks.
fn blocked(layout: &LinearLayout) -> Option<LayoutAttribute> {
    if layout.in_bits(Dim::BLOCK) > 0 {
        return None;
    }
    let rank = layout.outs().len();
    let shape: Vec<u64> = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
    let order = order_of(layout)?;
    // Further registers repeat the tile of a blocked layout, so each prefix of the register bases is tried as the
    // vector, the longest first.
    for vector in (0..=layout.in_bits(Dim::REGISTER) as usize).rev() {
        let registers = layout.columns_of(Dim::REGISTER).get(..vector)?;
        let sizes = [registers, layout.columns_of(Dim::LANE), layout.columns_of(Dim::WARP)]
            .map(|columns| sizes_of(layout, columns, rank));
        let [Some(registers), Some(mut lanes), Some(mut warps)] = sizes else { continue };
        // Lanes and warps beyond the shape hold replicas; the parameters count them along the slowest axis.
        let slowest = *order.last()?;
        for (dim, sizes) in [(Dim::LANE, &mut lanes), (Dim::WARP, &mut warps)] {
            let covered: u64 = sizes.iter().product();
            sizes[slowest] *= (1u64 << layout.in_bits(dim)) / covered;
        }
        let parameters = [
            ("size_per_thread", "sizePerThread", registers),
            ("threads_per_warp", "threadsPerWarp", lanes),
            ("warps_per_cta", "warpsPerCTA", warps),
            ("order", "order", order.iter().map(|&axis| axis as u64).collect()),
        ];
        let spec = parameters.iter().fold(FamilySpec::new("blocked"), |spec, (parameter, _, values)| {
            spec.with_parameter(parameter, numbers(values))
        });
        if NeutralFamilies.resolve(&spec, &shape, &NeutralFamilies) == Ok(Layout::Distributed(layout.clone())) {
            let words: Vec<String> =
                parameters.iter().map(|(_, word, values)| format!("{word} = {}", list(values))).collect();
            return Some(LayoutAttribute::new(spec, format!("#ttg.blocked<{{{}}}>", words.join(", "))));
        }
    }
    None
}

/// Returns the axes, ordered by the first basis that advances along each: register bases first, then lane, then warp
/// bases. Axes without a basis follow, the last axis first. `None` if a basis moves several bits.
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

/// Returns the first axis along which a basis advances; `None` if it advances along no axis.
fn axis_of(layout: &LinearLayout, column: u64) -> Option<usize> {
    layout.outs().unpack(column).find(|&(_, by)| by != 0).and_then(|(dim, _)| dim.as_tensor_axis())
}

/// Returns the size of each axis: two to the power of the number of `columns` (bases) that advance along it. Zero
/// columns (replicas) do not count. `None` if an axis is not below `rank`.
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

fn numbers(values: &[u64]) -> FamilyParameterValue {
    FamilyParameterValue::List(
        values.iter().map(|&value| FamilyParameterValue::Int(i64::try_from(value).unwrap_or(i64::MAX))).collect(),
    )
}
