//! Checks that terminators end regions of their operations, and that partitions use no values from outside except their
//! captures.
//!
//! A partition is any region but the first of a `ttg.warp_specialize`; other warps execute it.

use super::{CheckResult, OpContext, ensure, format_type_list};
use crate::op::name::{scf, tt, ttg};
use crate::{Block, Region, Value, ValueOrigin};

/// Terminators, with the operations whose regions they end; an empty list stands for functions.
const TERMINATORS: [(&str, &[&str]); 9] = [
    (tt::RETURN, &[]),
    (tt::REDUCE_RETURN, &[tt::REDUCE]),
    (tt::SCAN_RETURN, &[tt::SCAN]),
    (tt::MAP_ELEMENTWISE_RETURN, &[tt::MAP_ELEMENTWISE]),
    (scf::CONDITION, &[scf::WHILE]),
    (scf::YIELD, &[scf::EXECUTE_REGION, scf::FOR, scf::IF, scf::INDEX_SWITCH, scf::WHILE]),
    (ttg::MASK_RETURN, &[ttg::MASK]),
    (ttg::WARP_YIELD, &[ttg::WARP_SPECIALIZE]),
    (ttg::WARP_RETURN, &[ttg::WARP_SPECIALIZE]),
];

impl OpContext<'_> {
    fn parent_name(&self) -> Option<&str> {
        self.context.parent(self.op).map(|(parent, _)| self.body.op(parent).name())
    }

    /// Checks that the operation, if it is a terminator, ends a region of the parent operation that it is defined for.
    ///
    /// It also rejects a `tt.store` inside `tt.map_elementwise`.
    pub(super) fn nesting(&self) -> CheckResult {
        let name = self.operation.name();
        let is_mapped = || {
            let mut parents =
                std::iter::successors(self.context.parent(self.op), |(parent, _)| self.context.parent(*parent));
            parents.any(|(parent, _)| self.body.op(parent).name() == tt::MAP_ELEMENTWISE)
        };
        ensure(name != tt::STORE || !is_mapped(), || {
            "it stores inside `tt.map_elementwise`, whose region must have no side effects".to_owned()
        })?;
        let Some((_, parents)) = TERMINATORS.iter().find(|(known, _)| *known == name) else { return Ok(()) };
        let parent = self.parent_name();
        let fits = match parent {
            None => parents.is_empty(),
            Some(parent) => parents.contains(&parent),
        };
        ensure(fits, || {
            let expected =
                if parents.is_empty() { "a function".to_owned() } else { format!("`{}`", parents.join("`, `")) };
            let found = parent.map_or_else(|| "a function".to_owned(), |parent| format!("`{parent}`"));
            format!("it ends a region of {found}: expected {expected}")
        })
    }

    /// The partition that contains an operation: its `ttg.warp_specialize` and the index of the region. `None` outside
    /// partitions.
    fn partition(&self, mut op: crate::Op) -> Option<(crate::Op, usize)> {
        while let Some((parent, number)) = self.context.parent(op) {
            if self.body.op(parent).name() == ttg::WARP_SPECIALIZE && number > 0 {
                return Some((parent, number));
            }
            op = parent;
        }
        None
    }

    /// Whether the operation is within any region of a `ttg.warp_specialize`.
    fn is_in_specialized_warps(&self) -> bool {
        let mut op = self.op;
        while let Some((parent, _)) = self.context.parent(op) {
            if self.body.op(parent).name() == ttg::WARP_SPECIALIZE {
                return true;
            }
            op = parent;
        }
        false
    }

    /// The partition that contains the definition of a value, as [`Self::partition`] gives it.
    fn partition_of_value(&self, value: Value) -> Option<(crate::Op, usize)> {
        let (op, number) = match self.body.value_origin(value) {
            ValueOrigin::Result(op, _) => return self.partition(op),
            ValueOrigin::Argument(block, _) => self.context.parent_of_block(block)?,
        };
        let is_partition = self.body.op(op).name() == ttg::WARP_SPECIALIZE && number > 0;
        if is_partition { Some((op, number)) } else { self.partition(op) }
    }
}

/// Checks rule `blocks(1)`: each region of the operation has at most this many blocks.
pub(super) fn blocks(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    let Some(most) = arguments.first().and_then(|most| most.parse::<usize>().ok()) else { return Ok(()) };
    let counts = check.operation.regions.iter().map(|region| check.body.blocks(*region).len());
    let found = counts.max().unwrap_or(0);
    ensure(found <= most, || format!("a region has {found} blocks: expected at most {most}"))
}

/// Checks that the operation is outside every `ttg.warp_specialize`, since all warps of the kernel must execute it.
pub(super) fn outside_partitions(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    ensure(!check.is_in_specialized_warps(), || {
        "it is inside `ttg.warp_specialize`: expected a place before or behind it".to_owned()
    })
}

/// Checks `ttg.warp_yield`: its operands have the types of the results of the enclosing operation.
pub(super) fn warp_yield(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some((parent, _)) = check.context.parent(check.op) else { return Ok(()) };
    let given = check.types(&check.operation.operands);
    let expected = check.types(&check.body.op(parent).results);
    ensure(given == expected, || {
        format!("it gives {}: expected {}", format_type_list(&given), format_type_list(&expected))
    })
}

/// Checks `ttg.warp_specialize`: the captures, numbers of warps and terminators of its partitions.
pub(super) fn partitions(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    ensure(!check.is_in_specialized_warps(), || "it is inside another `ttg.warp_specialize`".to_owned())?;
    if let Some(warps) = check.context.warps {
        ensure(warps % 4 == 0, || format!("the module has {warps} warps: expected a multiple of 4, a warpgroup"))?;
    }
    let warps = check.integer_list_attribute("partitionNumWarps").unwrap_or_default();
    ensure(warps.len() + 1 == check.operation.regions.len(), || {
        format!("{} numbers of warps for {} partitions", warps.len(), check.operation.regions.len().saturating_sub(1))
    })?;
    for (number, count) in warps.iter().enumerate() {
        ensure(u64::try_from(*count).is_ok_and(u64::is_power_of_two), || {
            format!("partition {number} has {count} warps: expected a power of two")
        })?;
    }
    if let Some(starts) = check.integer_list_attribute("warpGroupStartIds") {
        ensure(starts.len() == warps.len(), || {
            format!("`warpGroupStartIds` has {} numbers for {} partitions", starts.len(), warps.len())
        })?;
    }
    let mut numbered = check.operation.regions.iter().enumerate().skip(1);
    numbered.try_for_each(|(number, region)| check_partition(check, number, *region))?;
    let default = check.operation.regions.first().and_then(|region| check.body.blocks(*region).last());
    let last = default.and_then(|block| check.body.ops(*block).last()).map(|op| check.body.op(*op).name());
    ensure(last != Some(ttg::WARP_RETURN), || {
        "the default region ends with `ttg.warp_return`: expected `ttg.warp_yield`".to_owned()
    })
}

/// Checks the partition in region `number`: its arguments have the captures' types, and it uses no other value from
/// outside.
///
/// Each of its blocks ends with a terminator, and none with `ttg.warp_yield`.
fn check_partition(check: &OpContext<'_>, number: usize, region: Region) -> CheckResult {
    let partition = number - 1;
    let captures = check.types(&check.operation.operands);
    let entry = check.body.blocks(region).first();
    ensure(entry.is_some(), || format!("partition {partition} has no block: expected one at least"))?;
    let arguments = entry.map_or_else(Vec::new, |entry| check.types(check.body.arguments(*entry)));
    ensure(arguments == captures, || {
        let (taken, expected) = (format_type_list(&arguments), format_type_list(&captures));
        format!("partition {partition} takes {taken}: expected the types of the captures, {expected}")
    })?;
    for op in check.body.walk_region(region) {
        let operation = check.body.op(op);
        let own = Some((check.op, number));
        let outer = operation.operands.iter().find(|value| check.partition_of_value(**value) != own);
        if let Some(outer) = outer {
            return Err(format!(
                "`{}` of partition {partition} uses `{}` from outside: expected a capture",
                operation.name(),
                check.body.display_name(*outer)
            ));
        }
    }
    for block in check.body.blocks(region) {
        let last = check.body.ops(*block).last().map(|op| check.body.op(*op));
        ensure(last.is_some_and(|last| last.definition.traits.terminator), || {
            format!("partition {partition} has a block without a terminator: expected `ttg.warp_return`")
        })?;
    }
    let mut blocks = check.body.blocks(region).iter();
    let ends_default =
        |block: &Block| check.body.ops(*block).last().is_some_and(|op| check.body.op(*op).name() == ttg::WARP_YIELD);
    ensure(!blocks.any(ends_default), || {
        format!("partition {partition} ends with `ttg.warp_yield`: expected `ttg.warp_return`")
    })
}
