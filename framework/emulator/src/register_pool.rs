//! The registers of a block whose warp groups hand registers over: what each lane has, and the pool of released ones.

use super::fault::{FaultKind, LaneFault};
use super::warp::Pause;
use tilewright_kernel::{RegisterChange, StaticLaunchConfig};
use tilewright_target::RegisterReallocation;

/// The registers of a block.
pub(super) struct RegisterPool {
    /// Number of registers of a lane at the launch.
    launch: u32,
    /// Number of lanes of a warp group, whose warps change their registers together.
    group_lanes: u64,
    /// Number of warps of such a group.
    group_warps: usize,
    /// For each warp, the number of registers of a lane.
    of_warps: Vec<u32>,
    /// Number of registers that warps have released and none has acquired.
    free: u64,
}

impl RegisterPool {
    /// Creates the registers of a block of this launch. Without `reallocation` no kernel changes them.
    pub(super) fn new(launch: StaticLaunchConfig, reallocation: Option<RegisterReallocation>) -> Self {
        let lanes = reallocation.map_or(launch.lanes, |change| change.lanes);
        Self {
            launch: launch.registers,
            group_lanes: lanes.into(),
            group_warps: (lanes / launch.lanes).max(1) as usize,
            of_warps: vec![launch.registers; launch.warps as usize],
            free: 0,
        }
    }

    /// Gives all lanes the registers of the launch, for the next block.
    pub(super) fn restart(&mut self) {
        self.of_warps.fill(self.launch);
        self.free = 0;
    }

    /// Changes the registers of each warp group whose warps all wait for the same change, if the pool has enough: sets
    /// their entries of `pauses` to `None`. Returns whether any changed.
    ///
    /// # Errors
    /// The warp, its step and the fault, if lanes release registers down to more than they have, or acquire up to fewer.
    pub(super) fn change(&mut self, pauses: &mut [Option<Pause>]) -> Result<bool, (u32, usize, LaneFault)> {
        let mut any = false;
        for first in (0..pauses.len()).step_by(self.group_warps) {
            let Some(Pause::Registers { step, change, registers }) = pauses[first] else { continue };
            let group = first..(first + self.group_warps).min(pauses.len());
            if group.clone().any(|warp| !is_at(pauses[warp], change, registers)) {
                continue;
            }
            let from = self.of_warps[first];
            let is_valid = match change {
                RegisterChange::Release => registers <= from,
                RegisterChange::Acquire => registers >= from,
            };
            if !is_valid {
                let fault = FaultKind::RegisterChange { change, from, to: registers }.into();
                return Err((first as u32, step, fault));
            }
            let Some(free) =
                (self.free + u64::from(from) * self.group_lanes).checked_sub(u64::from(registers) * self.group_lanes)
            else {
                continue;
            };
            self.free = free;
            self.of_warps[group.clone()].fill(registers);
            pauses[group].fill(None);
            any = true;
        }
        Ok(any)
    }

    /// Returns the fault of a warp that never gets the `registers` that it waits for: other warps of its group do not
    /// change theirs, or the pool has too few.
    pub(super) fn deadlock(
        &self,
        warp: usize,
        (change, registers): (RegisterChange, u32),
        pauses: &[Option<Pause>],
    ) -> FaultKind {
        let first = warp - warp % self.group_warps;
        let group = first..(first + self.group_warps).min(pauses.len());
        let elsewhere = group.filter(|&other| !is_at(pauses[other], change, registers));
        let missing: Vec<u32> = elsewhere.map(|other| other as u32).collect();
        if !missing.is_empty() {
            return FaultKind::NotIssuedTogether { together: self.group_warps as u32, missing };
        }
        let needed = u64::from(registers.saturating_sub(self.of_warps[warp])) * self.group_lanes;
        FaultKind::RegistersNotReleased { needed, free: self.free }
    }
}

/// Whether a warp waits for this change. Warps of a group may execute it in different branches of the kernel.
fn is_at(pause: Option<Pause>, expected: RegisterChange, expected_registers: u32) -> bool {
    matches!(
        pause,
        Some(Pause::Registers { change, registers, .. }) if (change, registers) == (expected, expected_registers)
    )
}
