//! Attribute syntax of the neutral families: the keywords of Triton's `ttg` dialect.

use std::collections::BTreeSet;

use super::cluster::{block_share_shape, cluster_layout, row_major_axis_order};
use crate::{
    AttributeParameterPosition, AttributeSyntax, Dim, FamilyParameterValue, FamilySpec, IntVec, OmittedParameterValues,
    ParameterSyntax,
};

pub(super) fn all() -> Vec<AttributeSyntax> {
    vec![
        blocked(),
        slice(),
        linear("linear"),
        linear("generic_linear"),
        dot_operand(),
        swizzled_shared(),
        padded_shared(),
        shared_linear(),
        partitioned_shared(),
    ]
}

fn ttg(family: &str) -> AttributeSyntax {
    AttributeSyntax::new(family, "ttg", family)
}

fn blocked() -> AttributeSyntax {
    let keywords = [
        ("size_per_thread", "sizePerThread"),
        ("threads_per_warp", "threadsPerWarp"),
        ("warps_per_cta", "warpsPerCTA"),
        ("order", "order"),
    ];
    ttg("blocked")
        .with_keywords(&keywords)
        .with_parameter(ParameterSyntax::cga_layout())
        .with_call("BlockedLayout", &["size_per_thread", "threads_per_warp", "warps_per_cta", "order", "cga_layout"])
}

fn slice() -> AttributeSyntax {
    ttg("slice").with_keywords(&[("dim", "dim"), ("parent", "parent")]).with_call("SliceLayout", &["dim", "parent"])
}

/// The syntax of `linear` and of `generic_linear`. The text omits the shape: the bases reach every element, so the
/// shape follows from them.
fn linear(family: &str) -> AttributeSyntax {
    let keywords =
        [("reg_bases", "register"), ("lane_bases", "lane"), ("warp_bases", "warp"), ("block_bases", "block")];
    let syntax = ttg(family)
        .with_keywords(&keywords)
        .with_parameter(ParameterSyntax::new("shape", &["shape"]).with_omitted_values(OmittedParameterValues::Always));
    match family {
        "linear" => syntax
            .with_call("DistributedLinearLayout", &["reg_bases", "lane_bases", "warp_bases", "block_bases", "shape"]),
        _ => syntax,
    }
}

fn dot_operand() -> AttributeSyntax {
    AttributeSyntax::new("dot_operand", "ttg", "dot_op")
        .with_keywords(&[("operand_index", "opIdx"), ("parent", "parent")])
        .with_parameter(ParameterSyntax::new("k_width", &["kWidth"]).with_omitted_value(0))
        .with_call("DotOperandLayout", &["operand_index", "parent", "k_width"])
}

fn swizzled_shared() -> AttributeSyntax {
    let keywords = [("vec", "vec"), ("per_phase", "perPhase"), ("max_phase", "maxPhase"), ("order", "order")];
    let barrier = [("vec", 1.into()), ("per_phase", 1.into()), ("max_phase", 1.into()), ("order", [0].into())];
    ttg("swizzled_shared")
        .with_keywords(&keywords)
        .with_parameter(ParameterSyntax::cga_layout())
        .with_call("SwizzledSharedLayout", &["vec", "per_phase", "max_phase", "order", "cga_layout"])
        .with_call_defaults("MBarrierLayout", &["cga_layout"], barrier)
}

fn padded_shared() -> AttributeSyntax {
    let keywords = [("offset_bases", "offset"), ("block_bases", "block"), ("order", "order")];
    ttg("padded_shared")
        .with_parameter(
            ParameterSyntax::new("interval_padding_pairs", &["intervals"])
                .with_position(AttributeParameterPosition::Before),
        )
        .with_keywords(&keywords)
        .with_parameter(ParameterSyntax::new("shape", &["shape"]).with_implied_by("offset_bases"))
        .with_parameter(ParameterSyntax::cga_layout())
        .with_call("PaddedSharedLayout", &["interval_padding_pairs", "offset_bases", "cga_layout", "shape"])
        .with_call("PaddedSharedLayout.with_identity_for", &["interval_padding_pairs", "shape", "order", "cga_layout"])
}

fn shared_linear() -> AttributeSyntax {
    let no_bases = FamilyParameterValue::List(Vec::new());
    ttg("shared_linear")
        .with_keywords(&[("offset_bases", "offset")])
        .with_parameter(ParameterSyntax::new("block_bases", &["block"]).with_omitted_value(no_bases))
        .with_parameter(
            ParameterSyntax::new("alignment", &["alignment"]).with_position(AttributeParameterPosition::Behind),
        )
        .with_call_defaults(
            "SharedLinearLayout",
            &["offset_bases", "block_bases", "alignment"],
            [("alignment", 16.into())],
        )
}

fn partitioned_shared() -> AttributeSyntax {
    ttg("partitioned_shared").with_keywords(&[
        ("num_partitions", "numPartitions"),
        ("num_groups", "numGroups"),
        ("partition_dim", "partitionDim"),
        ("partition_layout", "partitionLayout"),
    ])
}

/// Rewrites a `padded_shared` spec to the parameters of its attribute text: `order` and `shape` if the offsets fill the
/// axes one after another and there is one block, otherwise bases for offsets and for the cluster's blocks.
pub(super) fn padded_to_attribute_form(mut spec: FamilySpec) -> FamilySpec {
    let Some(InElements { offsets, blocks, shape }) = in_elements(&spec) else { return spec };
    spec.attributes.remove("cga_layout");
    // Explicit bases determine the shape.
    let shape = shape.filter(|_| offsets.is_empty()).unwrap_or_else(|| reached(&offsets));
    if let Some(order) = order_of(&offsets, &shape).filter(|_| blocks.is_empty()) {
        spec.attributes.remove("offset_bases");
        spec.attributes.remove("block_bases");
        return spec
            .with_parameter("order", numbers(order.iter().map(|&axis| axis as u64)))
            .with_parameter("shape", numbers(shape));
    }
    spec.with_parameter("block_bases", FamilyParameterValue::List(blocks.into_iter().map(numbers).collect()))
}

/// The bases of a padded layout, all in elements: the bases of blocks too, which specs count in multiples of one
/// block's part of the tensor.
struct InElements {
    offsets: Vec<Vec<u64>>,
    blocks: Vec<Vec<u64>>,
    shape: Option<IntVec>,
}

fn in_elements(spec: &FamilySpec) -> Option<InElements> {
    let read = spec.parameter_reader();
    let offsets = read.bases(&["offset_bases"]).ok()?;
    let own_blocks = read.bases_or_none(&["block_bases"]).ok();
    let cluster = read.bases_or_none(&["cga_layout"]).unwrap_or_default();
    let shape = read.numbers(&["shape"]).ok();
    let blocks = match (&shape, own_blocks) {
        (_, Some(blocks)) if cluster.is_empty() => blocks,
        (Some(shape), Some(blocks)) if blocks.is_empty() => block_bases(spec, &cluster, shape)?,
        _ => return None,
    };
    Some(InElements { offsets, blocks, shape })
}

/// Converts the bases of a cluster's blocks from multiples of one block's part of the tensor to elements; `None` if the
/// cluster does not fit the shape.
fn block_bases(spec: &FamilySpec, cluster: &[Vec<u64>], shape: &[u64]) -> Option<Vec<Vec<u64>>> {
    let layout = cluster_layout(spec, cluster, shape.len()).ok()?;
    let fits =
        (0..shape.len()).all(|axis| layout.out_bits(Dim::tensor(axis)) <= shape[axis].checked_ilog2().unwrap_or(0));
    let share = block_share_shape(shape, &layout);
    let scaled = |basis: &Vec<u64>| basis.iter().zip(&share).map(|(unit, share)| unit.checked_mul(*share)).collect();
    fits.then(|| cluster.iter().map(scaled).collect()).flatten()
}

/// The smallest shape of powers of two that holds the coordinates of all bases, axis by axis.
fn reached(bases: &[Vec<u64>]) -> IntVec {
    let rank = bases.iter().map(Vec::len).max().unwrap_or(0);
    let all = |axis: usize| bases.iter().fold(0, |all, basis| all | basis.get(axis).copied().unwrap_or(0));
    (0..rank).map(|axis| all(axis).checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(0)).collect()
}

/// The order of the axes, fastest first, if offset bases fill the shape one axis after another; `None` if they do not.
fn order_of(offsets: &[Vec<u64>], shape: &[u64]) -> Option<Vec<usize>> {
    let moved = |basis: &Vec<u64>| (0..shape.len()).find(|&axis| basis.get(axis).is_some_and(|&by| by != 0));
    let mut order: Vec<usize> = Vec::new();
    for axis in offsets.iter().filter_map(moved) {
        if !order.contains(&axis) {
            order.push(axis);
        }
    }
    let named: BTreeSet<_> = order.iter().copied().collect();
    order.extend(row_major_axis_order(shape.len()).into_iter().filter(|axis| !named.contains(axis)));
    let bits = |axis: usize| shape[axis].checked_ilog2().unwrap_or(0);
    let unit =
        |axis: usize, bit: u32| (0..shape.len()).map(|a| if a == axis { 1 << bit } else { 0 }).collect::<Vec<u64>>();
    let filled = order.iter().flat_map(|&axis| (0..bits(axis)).map(move |bit| (axis, bit)));
    let fits = shape.iter().all(|size| size.is_power_of_two());
    (fits && filled.map(|(axis, bit)| unit(axis, bit)).eq(offsets.iter().cloned())).then_some(order)
}

fn numbers(values: impl IntoIterator<Item = u64>) -> FamilyParameterValue {
    let integers = values.into_iter().map(|value| FamilyParameterValue::Int(i64::try_from(value).unwrap_or(i64::MAX)));
    FamilyParameterValue::List(integers.collect())
}
