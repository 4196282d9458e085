//! Lowers `ttg.warp_specialize`: partitions of warps that execute regions of their own.

use super::captured;
use super::named_barriers;
use super::state::Groups;
use crate::program::asynchronous;
use crate::program::error::{LowerError, LowerErrorReason, Lowered};
use crate::program::lowered::{LoweredValue, Registers};
use crate::program::lowering::Lowering;
use crate::program::pending;
use crate::program::ping_pong;
use crate::shared_memory::ALL_GROUPS;
use tilewright_assign::LaunchConfig;
use tilewright_kernel::{Compare, Kernel, Region as KernelRegion, SpecialRegister, Value};
use tilewright_tile::op::name::ttg;
use tilewright_tile::{self as tile, Attribute, Block, FunctionBody, Op, Region};

const GROUPS: &str = ttg::WARP_SPECIALIZE;

impl Groups {
    /// Finds the warp groups of a program; `None` without warp specialization. A group executes a partition of the same
    /// number of warps of each `ttg.warp_specialize`, if that has one left.
    ///
    /// # Errors
    /// [`LowerErrorReason`] if a `ttg.warp_specialize` stands in a loop or a branch; if a partition has a number of
    /// warps that no layout can have, such as three; or if the target has too few named barriers.
    pub(crate) fn of(
        body: &FunctionBody,
        entry: Block,
        config: &LaunchConfig<'_>,
    ) -> Result<Option<Self>, (Op, LowerErrorReason)> {
        let ops: Vec<Op> =
            body.walk_region(body.root()).into_iter().filter(|&op| body.op(op).name() == GROUPS).collect();
        let Some(&first) = ops.first() else { return Ok(None) };
        let mut groups = Self { warps: vec![config.warps], ..Self::default() };
        for &op in &ops {
            if !body.ops(entry).contains(&op) {
                return Err((op, LowerErrorReason::unsupported("warp specialization within a loop or a branch")));
            }
            let partitions = groups.assign_partitions(body, op).map_err(|reason| (op, reason))?;
            groups.partitions.push(partitions);
        }
        let (needed, most) = (groups.warps.len() as u32 + 1, config.context.target.limits.named_barriers);
        if needed > most {
            let message = format!("{needed} named barriers of warp groups; the target has {most}");
            return Err((first, LowerErrorReason::unsupported(message)));
        }
        groups.ops = ops;
        groups.plan_registers(body, config)?;
        Ok(Some(groups))
    }

    /// Returns the group that executes each partition of `op`; adds groups if there are too few with as many warps.
    fn assign_partitions(&mut self, body: &FunctionBody, op: Op) -> Lowered<Vec<usize>> {
        let Some(Attribute::Array(_, all)) = body.op(op).attributes.get("partitionNumWarps") else {
            return Ok(Vec::new());
        };
        let mut partitions = Vec::new();
        for warps in all.iter().map(|&warps| warps as u32) {
            if !warps.is_power_of_two() {
                return Err(LowerErrorReason::unsupported(format!(
                    "a partition of {warps} warps; layouts need a power of two"
                )));
            }
            let mut others = 1..self.warps.len();
            let free = others.find(|group| self.warps[*group] == warps && !partitions.contains(group));
            partitions.push(free.unwrap_or(self.warps.len()));
            if free.is_none() {
                self.warps.push(warps);
            }
        }
        Ok(partitions)
    }

    /// Number of warps of the block, over all partitions.
    pub(crate) fn all(&self) -> u32 {
        self.warps.iter().sum::<u32>() + self.idle
    }

    /// The conditions of the branches at which warp groups diverge.
    pub(crate) fn conditions(&self) -> &[Value] {
        &self.conditions
    }

    /// Replaces, in the code of each warp group, block barriers by named barriers of the group, and indices of warps in
    /// the block by indices in the group.
    pub(crate) fn resolve(&self, kernel: &mut Kernel) -> Lowered<()> {
        named_barriers::resolve(self, kernel)?;
        ping_pong::remove_blocked_ping_pong(kernel);
        Ok(())
    }
}

/// Lowers a program with warp specialization; `configs` are the launch configurations of the partitions after the
/// default one.
pub(crate) fn lowered<'a>(
    lowering: &mut Lowering<'a>,
    entry: Block,
    configs: &'a [LaunchConfig<'a>],
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
    lowering.start_registers(0);
    lowering.block(entry)?;
    asynchronous::finished(lowering);
    let mut regions = vec![lowering.builder.end_region(&[])];
    let ops = lowering.groups.ops.clone();
    let config = lowering.config;
    for (group, group_config) in configs.iter().enumerate() {
        lowering.as_group(group_config);
        lowering.pending = pending::planned(lowering);
        lowering.copies = asynchronous::planned(lowering);
        lowering.builder.begin_region(&[]);
        lowering.start_registers(group + 1);
        for (index, &op) in ops.iter().enumerate() {
            let region = lowering.groups.partitions[index].iter().position(|other| *other == group + 1);
            let region = region.and_then(|partition| body.op(op).regions.get(partition + 1).copied());
            partition(lowering, (op, region), (index, group + 1))
                .map_err(|failed| failed.unwrap_or_else(|reason| reason.at(body, op)))?;
        }
        regions.push(lowering.builder.end_region(&[]));
    }
    lowering.as_group(config);
    let mut then = regions.pop().unwrap_or_default();
    let mut otherwise = idle_warps(lowering);
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

/// Returns the region of the idle warps, which only take part in the barriers of all groups and in changes of
/// registers; it is empty without idle warps.
fn idle_warps(lowering: &mut Lowering<'_>) -> KernelRegion {
    lowering.builder.begin_region(&[]);
    let (all, group) = (lowering.groups.all(), lowering.groups.warps.len());
    if lowering.groups.idle > 0 {
        lowering.start_registers(group);
        for index in 0..lowering.groups.ops.len() {
            lowering.builder.named_barrier(ALL_GROUPS, all);
            lowering.next_registers(index, group);
            lowering.builder.named_barrier(ALL_GROUPS, all);
        }
    }
    lowering.builder.end_region(&[])
}

/// The error of a warp partition: located at one of its operations, or (`Err`) a mere reason; the caller adds the
/// location.
type Failed = Result<LowerError, LowerErrorReason>;

/// Lowers the region of a warp partition other than the default one. A group without a partition in `op` only takes
/// part in the barriers of all groups, and in changes of registers. `index` is the operation's index, `group` that of
/// the warp group.
fn partition(
    lowering: &mut Lowering<'_>,
    (op, region): (Op, Option<Region>),
    (index, group): (usize, usize),
) -> Result<(), Failed> {
    let body = lowering.body;
    let all = lowering.groups.all();
    lowering.builder.named_barrier(ALL_GROUPS, all);
    lowering.next_registers(index, group);
    let Some(region) = region else {
        lowering.builder.named_barrier(ALL_GROUPS, all);
        return Ok(());
    };
    if body.walk_region(region).iter().any(|op| lowering.tensor_copies.contains_key(op)) {
        // Bulk tensor copies may write buffers that other warps accessed before.
        lowering.builder.proxy_fence();
    }
    let block = lowering.only_block(region).map_err(Err)?;
    captured::taken(lowering, op, body.arguments(block)).map_err(Err)?;
    lowering.block(block).map_err(Ok)?;
    if body.walk_region(region).iter().any(|op| lowering.copies.contains_key(op)) {
        asynchronous::wait_for_all_copies(lowering);
    }
    lowering.builder.named_barrier(ALL_GROUPS, all);
    Ok(())
}

/// Lowers `ttg.warp_specialize` for the default partition, which executes the whole program.
pub(crate) fn operation(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let all = lowering.groups.all();
    captured::given(lowering, op).map_err(at)?;
    lowering.builder.named_barrier(ALL_GROUPS, all);
    if let Some(index) = lowering.groups.ops.iter().position(|other| *other == op) {
        lowering.next_registers(index, 0);
    }
    let region = body.op(op).regions.first().copied();
    let region = region.ok_or_else(|| at(LowerErrorReason::malformed("it has no region for the default partition")))?;
    let block = lowering.only_block(region).map_err(at)?;
    let end = lowering.block(block)?;
    lowering.builder.named_barrier(ALL_GROUPS, all);
    let results = body.op(op).results.clone();
    let given = end.map_or_else(Vec::new, |end| body.op(end).operands.to_vec());
    for (&result, given) in results.iter().zip(given) {
        let lowered = passed_on(lowering, given, result).map_err(at)?;
        lowering.set_lowered(result, lowered);
    }
    Ok(())
}

/// Returns the value `given` that a region yields as the operation's result `result`, in the layout of that result.
fn passed_on(lowering: &mut Lowering<'_>, given: tile::Value, result: tile::Value) -> Lowered<LoweredValue> {
    let LoweredValue::Tensor(tensor) = lowering.lowered(given)?.clone() else {
        return lowering.lowered(given).cloned();
    };
    let layout = lowering.layout_of(result)?;
    let values = lowering.convert(&tensor, &layout)?;
    Ok(LoweredValue::Tensor(Registers { layout, values }))
}

impl Lowering<'_> {
    /// Whether the program uses warp specialization.
    pub(crate) fn has_groups(&self) -> bool {
        !self.groups.ops.is_empty()
    }
}
