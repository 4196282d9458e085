//! Registers of warp partitions (`requestedRegisters`, `actualRegisters`): the code of each warp group begins with a
//! change of its lanes' registers (PTX `setmaxnreg`), so that partitions that need few hand theirs over to the others.
//!
//! `requestedRegisters` has the registers of each partition but the default one, which gets what remains; the launch
//! has as many as the block's registers permit. `actualRegisters` has those of all partitions, the default one first;
//! the launch has their mean. On a target whose lanes cannot change their registers, or for a default partition that is
//! no whole number of its warp groups, both attributes are ignored: they do not change what a program computes.

use super::state::Groups;
use crate::program::error::{LowerErrorReason, Lowered};
use crate::program::lowering::Lowering;
use std::cmp::{Ordering, Reverse};
use tilewright_assign::LaunchConfig;
use tilewright_kernel::RegisterChange;
use tilewright_target::{Optimization, RegisterReallocation};
use tilewright_tile::{Attribute, FunctionBody, Op};

/// The registers of all partitions of a program.
#[derive(Debug)]
pub(crate) struct PartitionRegisters {
    /// Number of registers of a lane at the launch.
    launch: u32,
    /// For each `ttg.warp_specialize`, the number of registers of a lane of each warp group, and of the idle warps.
    counts: Vec<Vec<u32>>,
}

impl Groups {
    /// Number of registers of a lane at the launch; `None` if the program does not change them.
    pub(crate) fn launch_registers(&self) -> Option<u32> {
        self.registers.as_ref().map(|registers| registers.launch)
    }

    /// Plans the registers of all partitions, if the program states them and the target can change them.
    ///
    /// # Errors
    /// The operation whose attribute has not one number for each partition, or a number that the target does not
    /// allow; or whose partitions need more registers than a block has.
    pub(super) fn plan_registers(
        &mut self,
        body: &FunctionBody,
        config: &LaunchConfig<'_>,
    ) -> Result<(), (Op, LowerErrorReason)> {
        let limits = &config.context.target.limits;
        let is_enabled = config.context.enables(Optimization::RegisterReallocation);
        let Some(change) = limits.register_reallocation.filter(|_| is_enabled) else { return Ok(()) };
        let together = (change.lanes / config.lanes).max(1);
        let requests: Vec<Option<Request>> = self.ops.iter().map(|&op| Request::of(body, op)).collect();
        if requests.iter().all(Option::is_none) || !config.warps.is_multiple_of(together) {
            return Ok(());
        }
        self.sort_by_warps();
        self.idle = self.all().next_multiple_of(together) - self.all();
        let share = limits.registers_per_block / (self.all() * config.lanes);
        let down = |registers: u32| registers / change.step * change.step;
        let most = config.context.registers.unwrap_or(limits.registers_per_lane).min(share);
        let planner = Planner { groups: self, change, together, launch: down(most) };
        let mut counts = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            let of_groups = request.as_ref().map(|request| planner.counts(index, request)).transpose();
            counts.push(of_groups.map_err(|reason| (self.ops[index], reason))?.unwrap_or_default());
        }
        let is_mean = config.context.registers.is_none() && !requests.iter().flatten().any(|one| !one.is_actual);
        let needed = counts.iter().map(|counts| planner.mean(counts)).max().unwrap_or(0);
        let launch = if is_mean { needed.min(planner.launch) } else { planner.launch };
        if let Some(index) = counts.iter().position(|counts| planner.mean(counts) > launch) {
            let message = format!("its partitions need {needed} registers of a lane on average; a block has {launch}");
            return Err((self.ops[index], LowerErrorReason::malformed(message)));
        }
        self.registers = Some(PartitionRegisters { launch, counts });
        Ok(())
    }

    /// Sorts the warp groups behind the default one by their number of warps, the largest first.
    fn sort_by_warps(&mut self) {
        let mut order: Vec<usize> = (1..self.warps.len()).collect();
        order.sort_by_key(|&group| Reverse(self.warps[group]));
        let sorted = order.iter().map(|&group| self.warps[group]).collect::<Vec<_>>();
        self.warps.splice(1.., sorted);
        for group in self.partitions.iter_mut().flatten() {
            *group = order.iter().position(|other| other == group).map_or(0, |position| position + 1);
        }
    }
}

/// The registers that a `ttg.warp_specialize` states.
struct Request {
    /// Whether the first number is for the default partition; if false, no number is.
    is_actual: bool,
    registers: Vec<u32>,
}

impl Request {
    fn of(body: &FunctionBody, op: Op) -> Option<Self> {
        let numbers = |name: &str| match body.op(op).attributes.get(name)? {
            Attribute::Array(_, all) => Some(all.iter().map(|&bits| bits as u32).collect()),
            _ => None,
        };
        let actual = numbers("actualRegisters").map(|registers| Self { is_actual: true, registers });
        actual.or_else(|| numbers("requestedRegisters").map(|registers| Self { is_actual: false, registers }))
    }
}

/// Plans the registers of one operation after the other.
struct Planner<'g> {
    groups: &'g Groups,
    change: RegisterReallocation,
    /// Number of warps that change their registers together.
    together: u32,
    /// Number of registers of a lane that the block can have at the launch.
    launch: u32,
}

impl Planner<'_> {
    /// Returns the registers of a lane of each warp group, and of the idle warps, in the operation with this index.
    fn counts(&self, index: usize, request: &Request) -> Lowered<Vec<u32>> {
        let partitions = &self.groups.partitions[index];
        let (found, expected) = (request.registers.len(), partitions.len() + usize::from(request.is_actual));
        if found != expected {
            let message = format!("{found} numbers of registers; expected {expected}, one for each partition");
            return Err(LowerErrorReason::malformed(message));
        }
        let RegisterReallocation { least, most, step, .. } = self.change;
        // Partitions that share the warps of one change have the most that one of them states.
        let mut of_groups = vec![least; self.groups.warps.len() + 1];
        let others = request.registers.iter().skip(usize::from(request.is_actual));
        for (&group, &registers) in partitions.iter().zip(others) {
            let fitting = registers.next_multiple_of(step).max(least);
            let shared = (1..of_groups.len()).filter(|&other| self.first_of(other) == self.first_of(group));
            shared.for_each(|other| of_groups[other] = of_groups[other].max(fitting));
        }
        of_groups[0] = match request.is_actual {
            true => request.registers[0],
            false => {
                let left = (self.launch * self.groups.all())
                    .saturating_sub(self.total(&of_groups) - least * self.groups.warps[0]);
                (left / self.groups.warps[0] / step * step).min(most)
            }
        };
        match of_groups.iter().find(|&&registers| !self.change.allows(registers)) {
            None => Ok(of_groups),
            Some(wrong) => Err(LowerErrorReason::malformed(format!(
                "a partition of {wrong} registers; expected {least} to {most} in steps of {step}"
            ))),
        }
    }

    /// The index of the first warp that changes its registers with the first warp of a group, or of the idle warps.
    fn first_of(&self, group: usize) -> u32 {
        let first: u32 = self.groups.warps[..group].iter().sum();
        first / self.together
    }

    /// Number of registers of all warps, for one lane of each.
    fn total(&self, of_groups: &[u32]) -> u32 {
        let warps = self.groups.warps.iter().chain([&self.groups.idle]);
        warps.zip(of_groups).map(|(warps, registers)| warps * registers).sum()
    }

    /// The mean number of registers of a lane, in whole steps.
    fn mean(&self, of_groups: &[u32]) -> u32 {
        self.total(of_groups).div_ceil(self.groups.all()).next_multiple_of(self.change.step)
    }
}

impl Lowering<'_> {
    /// Changes the registers of the lanes of a warp group at the begin of the kernel, to those of its first partition:
    /// the default partition needs them for the code before it too.
    pub(super) fn start_registers(&mut self, group: usize) {
        let Some(PartitionRegisters { launch, counts }) = &self.groups.registers else { return };
        if let Some(&first) = counts.iter().find_map(|counts| counts.get(group)) {
            self.change_registers(*launch, first);
        }
    }

    /// Changes the registers of the lanes of a warp group from those of its partition before to those of its partition
    /// in the operation with this index.
    pub(super) fn next_registers(&mut self, index: usize, group: usize) {
        let Some(PartitionRegisters { counts, .. }) = &self.groups.registers else { return };
        let before = counts[..index].iter().rev().find_map(|counts| counts.get(group));
        if let (Some(&before), Some(&next)) = (before, counts[index].get(group)) {
            self.change_registers(before, next);
        }
    }

    fn change_registers(&mut self, from: u32, to: u32) {
        match to.cmp(&from) {
            Ordering::Less => self.builder.set_max_registers(RegisterChange::Release, to),
            Ordering::Equal => {}
            Ordering::Greater => self.builder.set_max_registers(RegisterChange::Acquire, to),
        }
    }
}
