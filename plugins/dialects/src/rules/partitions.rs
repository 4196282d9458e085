//! Defines the rules of dialect `nvws`: values that one warp partition passes to another, and groups of warps.

use std::collections::BTreeSet;

use tilewright_tile::rules::{CheckResult, OpContext, VerifyRule, ensure};
use tilewright_tile::{Attribute, Operation, TileType, ValueOrigin};

use super::tensor_memory_layouts::SCALES;

/// The rules for operations of `nvws`, by the names that dialect files use.
pub(super) const RULES: [VerifyRule; 4] = [
    VerifyRule::new("warp_group", warp_group),
    VerifyRule::new("partition_phi", partition_phi),
    VerifyRule::new("names_buffers", names_buffers),
    VerifyRule::new("entered_buffers", entered_buffers),
];

/// Returns the numbers of the partitions that execute an operation (attribute `ttg.partition`); empty without the
/// attribute.
fn partitions_of(operation: &Operation) -> BTreeSet<u64> {
    match operation.attributes.get("ttg.partition") {
        Some(Attribute::Array(_, numbers)) => numbers.iter().copied().collect(),
        _ => BTreeSet::new(),
    }
}

/// Rule `partition_phi` of `nvws.aref.phi`: checks that its `ttg.partition` is the union of the partitions that define
/// its operands. Each operand must be defined by at least one partition, and each partition may define only one.
fn partition_phi(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let mut given = BTreeSet::new();
    for value in &check.operation().operands {
        let own = match check.body().value_origin(*value) {
            ValueOrigin::Result(op, _) => partitions_of(check.body().op(op)),
            ValueOrigin::Argument(..) => BTreeSet::new(),
        };
        ensure(!own.is_empty(), || {
            let name = check.body().display_name(*value);
            format!("`{name}` is of no partition: expected an operation with `ttg.partition`")
        })?;
        let twice = own.iter().find(|partition| given.contains(*partition));
        ensure(twice.is_none(), || {
            format!("partition {} is of both operands: expected one", twice.copied().unwrap_or_default())
        })?;
        given.extend(own);
    }
    let own = partitions_of(check.operation());
    ensure(own == given, || format!("`ttg.partition` is {own:?}: expected the partitions of its operands, {given:?}"))
}

/// Rule `warp_group` of `nvws.warp_group`: checks that `numWarps` has one number for each region, and that the first
/// region yields as many values as the operation has results.
fn warp_group(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let operation = check.operation();
    let (regions, warps) =
        (operation.regions.len(), check.integer_list_attribute("numWarps").unwrap_or_default().len());
    ensure(regions == warps, || format!("{warps} numbers of warps for {regions} regions: expected one for each"))?;
    if operation.results.is_empty() {
        return Ok(());
    }
    let body = check.body();
    let first = operation.regions.first().and_then(|region| body.blocks(*region).first());
    let last = first.and_then(|block| body.ops(*block).last()).map(|op| body.op(*op));
    let given = last.filter(|last| last.name() == "nvws.warp_group.yield").map(|last| last.operands.len());
    ensure(given == Some(operation.results.len()), || {
        format!("the first region gives {} of {} results", given.unwrap_or(0), operation.results.len())
    })
}

/// Rule `names_buffers` of `nvws.aref.create`: checks that the result type `!nvws.aref<[...]>` lists the types of the
/// operands `buffers`. Their first axes, which count the buffers, must have the same size.
fn names_buffers(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some(TileType::Foreign(text)) = check.group_type("result") else { return Ok(()) };
    let counts: Vec<_> = check.group_types("buffers").iter().map(|ty| ty.shape().and_then(<[u64]>::first)).collect();
    ensure(counts.windows(2).all(|pair| pair[0] == pair[1]), || {
        "the tensors have different numbers of buffers, their first axes: expected one number".to_owned()
    })?;
    let buffers: Vec<_> = check.group_types("buffers").iter().map(ToString::to_string).collect();
    let expected = format!("!nvws.aref<[{}]>", buffers.join(", "));
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    ensure(plain(text) == plain(&expected), || format!("the result is a `{text}`: expected `{expected}`"))
}

/// Rule `entered_buffers(results)` of `nvws.aref.put.enter` and `nvws.aref.get.enter`: checks that the results have one
/// buffer for each tensor of the reference `aref`. A buffer has the tensor's shape without the first axis (the number
/// of buffers); scales in tensor memory keep the whole shape.
fn entered_buffers(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let Some(TileType::Foreign(text)) = check.group_type("aref") else { return Ok(()) };
    let results = check.types_of_groups(groups);
    let given: Vec<_> = results.iter().filter_map(|ty| ty.as_memory()).collect();
    let tensors: Vec<&str> = text.split("!ttg.memdesc<").skip(1).collect();
    ensure(tensors.len() == given.len(), || {
        format!("it gives {} buffers of a reference to {} tensors: expected one of each", given.len(), tensors.len())
    })?;
    for (tensor, buffer) in tensors.iter().zip(given) {
        let shape = tensor.split(',').next().unwrap_or_default();
        let mut expected = shape.to_owned();
        if buffer.layout.spec().name != SCALES {
            expected = shape.split_once('x').map_or(shape, |(_, rest)| rest).to_owned();
        }
        let sizes = buffer.shape.iter().map(|size| format!("{size}x")).collect::<String>();
        let own = format!("{sizes}{}", buffer.element);
        ensure(own == expected, || format!("it gives a buffer of {own}: expected {expected}"))?;
    }
    Ok(())
}
