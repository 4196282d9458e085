//! Defines the rules of values that warp partitions hand over.

use std::collections::BTreeSet;

use tilewright_tile::rules::{Check, Checked, Rule, ensure};
use tilewright_tile::{Attribute, Operation, TileType, ValueOrigin};

/// The rules of `nvws`.
pub(super) const RULES: [Rule; 2] =
    [Rule::new("partition_phi", partition_phi), Rule::new("names_buffers", names_buffers)];

/// Returns the partitions that an operation belongs to: its attribute `ttg.partition`; none without it.
fn partitions_of(operation: &Operation) -> BTreeSet<u64> {
    match operation.attributes.get("ttg.partition") {
        Some(Attribute::Array(_, numbers)) => numbers.iter().copied().collect(),
        _ => BTreeSet::new(),
    }
}

/// `partition_phi` (`nvws.aref.phi`): its partitions are those of the operations that define its operands.
fn partition_phi(check: &Check<'_>, _: &[String]) -> Checked {
    let mut given = BTreeSet::new();
    for value in &check.operation().operands {
        let own = match check.body().origin(*value) {
            ValueOrigin::Result(op, _) => partitions_of(check.body().op(op)),
            ValueOrigin::Argument(..) => BTreeSet::new(),
        };
        ensure(!own.is_empty(), || {
            let name = check.body().display_name(*value);
            format!("`{name}` is of no partition: expected an operation with `ttg.partition`")
        })?;
        given.extend(own);
    }
    let own = partitions_of(check.operation());
    ensure(own == given, || format!("`ttg.partition` is {own:?}: expected the partitions of its operands, {given:?}"))
}

/// `names_buffers` (`nvws.aref.create`): the type of the reference has the types of the buffers.
fn names_buffers(check: &Check<'_>, _: &[String]) -> Checked {
    let Some(TileType::Foreign(text)) = check.group_type("result") else { return Ok(()) };
    let buffers: Vec<_> = check.group_types("buffers").iter().map(ToString::to_string).collect();
    let expected = format!("!nvws.aref<[{}]>", buffers.join(", "));
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    ensure(plain(text) == plain(&expected), || format!("the result is a `{text}`: expected `{expected}`"))
}
