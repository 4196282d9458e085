//! Lowers `ttg.warp_specialize`: partitions of warps that run regions of their own.

use super::captured;
use super::own;
use super::state::Groups;
use crate::program::asynchronous;
use crate::program::error::{LowerError, Lowered, Reason};
use crate::program::lowered::{LoweredValue, Registers};
use crate::program::lowering::Lowering;
use crate::program::pending;
use crate::shared_memory::ALL_GROUPS;
use tilewright_assign::LaunchConfig;
use tilewright_kernel::{Compare, Kernel, SpecialRegister, Value};
use tilewright_tile::op::name::ttg;
use tilewright_tile::{self as tile, Attribute, Block, Body, Op};

const GROUPS: &str = ttg::WARP_SPECIALIZE;

impl Groups {
    /// The groups of a program that has any.
    ///
    /// # Errors
    /// [`Reason`]: where they are in regions, or differ from place to place, or the target has no barriers of groups.
    pub(crate) fn of(body: &Body, entry: Block, machine: &LaunchConfig<'_>) -> Result<Option<Self>, (Op, Reason)> {
        let ops: Vec<Op> = body.walk(body.root()).into_iter().filter(|&op| body.op(op).name() == GROUPS).collect();
        let Some(&first) = ops.first() else { return Ok(None) };
        let warps = |op: Op| match body.op(op).attributes.get("partitionNumWarps") {
            Some(Attribute::Array(_, warps)) => warps.iter().map(|&warps| warps as u32).collect(),
            _ => Vec::new(),
        };
        let own: Vec<u32> = warps(first);
        for &op in &ops {
            if !body.ops(entry).contains(&op) {
                return Err((op, Reason::unsupported("groups of warps within a loop or a choice")));
            }
            if warps(op) != own {
                return Err((op, Reason::unsupported("groups of other warps than the program has before")));
            }
        }
        if let Some(count) = own.iter().find(|count| !count.is_power_of_two()) {
            return Err((
                first,
                Reason::unsupported(format!("a group of {count} warps; layouts are for powers of two")),
            ));
        }
        let (needed, most) = (own.len() as u32 + 2, machine.context.target.limits.group_barriers);
        if needed > most {
            let message = format!("{needed} barriers of groups of warps; the target has {most}");
            return Err((first, Reason::unsupported(message)));
        }
        let warps = std::iter::once(machine.warps).chain(own).collect();
        Ok(Some(Self { ops, warps, ..Self::default() }))
    }

    /// Warps of a block.
    pub(crate) fn all(&self) -> u32 {
        self.warps.iter().sum()
    }

    /// Values that say which group a warp is of.
    pub(crate) fn conditions(&self) -> &[Value] {
        &self.conditions
    }

    /// Makes the barriers and warps of each group its own.
    pub(crate) fn resolve(&self, kernel: &mut Kernel) {
        own::resolve(self, kernel);
    }
}

/// Lowers a program with groups; `machines` are those of the groups behind the first.
pub(crate) fn lowered<'a>(
    lowering: &mut Lowering<'a>,
    entry: Block,
    machines: &'a [LaunchConfig<'a>],
) -> Result<(), LowerError> {
    let body = lowering.body;
    let builder = &mut lowering.builder;
    let warp = builder.special(SpecialRegister::Warp);
    let mut behind = 0;
    let (mut firsts, mut conditions) = (Vec::new(), Vec::new());
    for &warps in &lowering.groups.warps {
        firsts.push(builder.i32(behind));
        behind += warps;
        let end = builder.i32(behind);
        conditions.push(builder.compare(Compare::LtU, warp, end));
    }
    (lowering.groups.warp, lowering.groups.firsts, lowering.groups.conditions) = (warp, firsts, conditions.clone());
    lowering.builder.begin_region(&[]);
    lowering.block(entry)?;
    asynchronous::finished(lowering);
    let mut regions = vec![lowering.builder.end_region(&[])];
    let ops = lowering.groups.ops.clone();
    let machine = lowering.machine;
    for (group, own) in machines.iter().enumerate() {
        lowering.as_group(own);
        lowering.pending = pending::planned(lowering);
        lowering.copies = asynchronous::planned(lowering);
        lowering.builder.begin_region(&[]);
        for &op in &ops {
            partition(lowering, op, group).map_err(|failed| failed.unwrap_or_else(|reason| reason.at(body, op)))?;
        }
        regions.push(lowering.builder.end_region(&[]));
    }
    lowering.as_group(machine);
    let last = regions.pop().unwrap_or_default();
    lowering.builder.begin_region(&[]);
    let mut otherwise = lowering.builder.end_region(&[]);
    let mut then = last;
    for condition in conditions.into_iter().rev() {
        lowering.builder.begin_region(&[]);
        lowering.builder.if_else(condition, then, otherwise, &[]);
        otherwise = lowering.builder.end_region(&[]);
        match regions.pop() {
            Some(next) => then = next,
            None => break,
        }
    }
    lowering.builder.inline(otherwise);
    Ok(())
}

/// What went wrong, with or without its place.
type Failed = Result<LowerError, Reason>;

/// The region of a group behind the first.
fn partition(lowering: &mut Lowering<'_>, op: Op, group: usize) -> Result<(), Failed> {
    let body = lowering.body;
    let all = lowering.groups.all();
    lowering.builder.group_barrier(ALL_GROUPS, all);
    let region = body.op(op).regions.get(group + 1).copied();
    let region = region.ok_or_else(|| Err(Reason::malformed("it has no region for the group")))?;
    if body.walk(region).iter().any(|op| lowering.boxes.contains_key(op)) {
        // Boxes may fill what others have accessed before.
        lowering.builder.proxy_fence();
    }
    let block = lowering.only_block(region).map_err(Err)?;
    captured::taken(lowering, op, body.arguments(block)).map_err(Err)?;
    lowering.block(block).map_err(Ok)?;
    if body.walk(region).iter().any(|op| lowering.copies.contains_key(op)) {
        asynchronous::all_landed(lowering);
    }
    lowering.builder.group_barrier(ALL_GROUPS, all);
    Ok(())
}

/// `ttg.warp_specialize` for the warps that do all of the program.
pub(crate) fn operation(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: Reason| reason.at(body, op);
    let all = lowering.groups.all();
    captured::given(lowering, op).map_err(at)?;
    lowering.builder.group_barrier(ALL_GROUPS, all);
    let region = body.op(op).regions.first().copied();
    let region = region.ok_or_else(|| at(Reason::malformed("it has no region for the first group")))?;
    let block = lowering.only_block(region).map_err(at)?;
    let end = lowering.block(block)?;
    lowering.builder.group_barrier(ALL_GROUPS, all);
    let results = body.op(op).results.clone();
    let given = end.map_or_else(Vec::new, |end| body.op(end).operands.to_vec());
    for (&result, given) in results.iter().zip(given) {
        let lowered = passed_on(lowering, given, result).map_err(at)?;
        lowering.hold(result, lowered);
    }
    Ok(())
}

/// What a region gives, as the result of the operation is.
fn passed_on(lowering: &mut Lowering<'_>, given: tile::Value, result: tile::Value) -> Lowered<LoweredValue> {
    let LoweredValue::Tensor(tensor) = lowering.lowered(given)?.clone() else {
        return lowering.lowered(given).cloned();
    };
    let layout = lowering.layout_of(result)?;
    let values = lowering.convert(&tensor, &layout)?;
    Ok(LoweredValue::Tensor(Registers { layout, values }))
}

impl Lowering<'_> {
    /// Whether the program has groups of warps that do different things.
    pub(crate) fn has_groups(&self) -> bool {
        !self.groups.ops.is_empty()
    }
}
