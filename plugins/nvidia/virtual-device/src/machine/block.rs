//! Runs one block: warps run one after another, each until it waits at a barrier, exits or has executed its time slice.

use std::collections::BTreeMap;

use super::register_pool::RegisterPool;
use super::registers::LANES;
use super::warp::{BlockContext, Warp, WarpState};
use super::{DeviceFault, DeviceFaultKind};

/// Runs the warps of a block until all of them have exited.
pub(super) fn run(warps: &mut [Warp], around: &mut BlockContext<'_>) -> Result<(), Box<DeviceFault>> {
    // For each barrier, the number of threads that have arrived without waiting there (`barrier.arrive`).
    let mut arrivals: BTreeMap<u32, u32> = BTreeMap::new();
    let mut pool = RegisterPool::new(warps.len(), around.program.launch_registers);
    loop {
        let mut ran = false;
        for warp in warps.iter_mut() {
            if warp.standing == WarpState::Runs {
                warp.run(around)?;
                ran = true;
            }
            if let WarpState::Waits(arrival) = warp.standing
                && arrival.only_arrives
            {
                *arrivals.entry(arrival.barrier).or_default() += LANES as u32;
                around.shared.record_partial_barrier();
                warp.standing = WarpState::Runs;
            }
        }
        if warps.iter().all(|warp| warp.standing == WarpState::Finished) {
            return Ok(());
        }
        let changed = pool
            .change(warps)
            .map_err(|(warp, message)| fault(around, warp, ("setmaxnreg", DeviceFaultKind::RegisterChange(message))))?;
        if !release_barriers(warps, around, &mut arrivals)? && !changed && !ran {
            return Err(deadlock_fault(warps, around));
        }
    }
}

/// Continues the warps that wait at completed barriers; returns whether any barrier was complete.
fn release_barriers(
    warps: &mut [Warp],
    around: &mut BlockContext<'_>,
    arrivals: &mut BTreeMap<u32, u32>,
) -> Result<bool, Box<DeviceFault>> {
    let mut waiting: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, warp) in warps.iter().enumerate() {
        if let WarpState::Waits(arrival) = warp.standing {
            waiting.entry(arrival.barrier).or_default().push(index);
        }
    }
    let going = warps.iter().filter(|warp| warp.standing != WarpState::Finished).count();
    let mut any = false;
    for (barrier, numbers) in waiting {
        let threads = numbers.iter().find_map(|&index| match warps[index].standing {
            WarpState::Waits(arrival) => arrival.threads,
            _ => None,
        });
        let without = arrivals.get(&barrier).copied().unwrap_or(0);
        let here = numbers.len() as u32 * LANES as u32 + without;
        let includes_all_warps = numbers.len() == going && without == 0;
        let is_complete = match threads {
            // Threads that have exited do not count for a barrier of the whole block.
            None => here >= going as u32 * LANES as u32,
            Some(threads) => here >= threads || includes_all_warps && threads as usize >= warps.len() * LANES,
        };
        if !is_complete {
            continue;
        }
        if let Some(threads) = threads.filter(|&threads| here > threads) {
            let kind = DeviceFaultKind::Barrier(format!(
                "{here} threads arrived at barrier {barrier}, which expects {threads}"
            ));
            return Err(fault(around, numbers[0] as u32, ("barrier", kind)));
        }
        any = true;
        arrivals.remove(&barrier);
        if includes_all_warps {
            around.shared.record_block_barrier();
        } else {
            around.shared.record_partial_barrier();
        }
        numbers.into_iter().for_each(|index| warps[index].released());
    }
    Ok(any)
}

/// Returns the fault for a deadlock: every warp waits at a barrier that cannot complete.
fn deadlock_fault(warps: &[Warp], around: &BlockContext<'_>) -> Box<DeviceFault> {
    let waiting: Vec<String> = warps
        .iter()
        .enumerate()
        .filter_map(|(index, warp)| match warp.standing {
            WarpState::Waits(arrival) => Some(format!("warp {index} at barrier {}", arrival.barrier)),
            WarpState::ChangesRegisters(change) => Some(format!("warp {index} for {} registers", change.registers)),
            WarpState::Runs | WarpState::Finished => None,
        })
        .collect();
    let kind = DeviceFaultKind::Barrier(format!("deadlock, all warps wait: {}", waiting.join(", ")));
    fault(around, 0, ("barrier", kind))
}

fn fault(around: &BlockContext<'_>, warp: u32, (opcode, kind): (&str, DeviceFaultKind)) -> Box<DeviceFault> {
    let (kernel, block) = (around.program.name.clone(), around.block);
    Box::new(DeviceFault { kernel, line: 0, opcode: opcode.to_owned(), block, warp, kind })
}
