//! One block: its warps take turns, each until it waits, and meet at barriers.

use std::collections::BTreeMap;

use super::registers::LANES;
use super::warp::{Around, Standing, Warp};
use super::{DeviceFault, DeviceFaultKind};

/// Runs a block to its end.
pub(super) fn run(warps: &mut [Warp], around: &mut Around<'_>) -> Result<(), Box<DeviceFault>> {
    // Threads that have arrived at a barrier without waiting there.
    let mut arrived: BTreeMap<u32, u32> = BTreeMap::new();
    loop {
        let mut ran = false;
        for warp in warps.iter_mut() {
            if warp.standing == Standing::Runs {
                warp.run(around)?;
                ran = true;
            }
            if let Standing::Waits(arrival) = warp.standing
                && arrival.only_arrives
            {
                *arrived.entry(arrival.barrier).or_default() += LANES as u32;
                around.shared.ordered_otherwise();
                warp.standing = Standing::Runs;
            }
        }
        if warps.iter().all(|warp| warp.standing == Standing::Ended) {
            return Ok(());
        }
        if !released(warps, around, &mut arrived)? && !ran {
            return Err(stuck(warps, around));
        }
    }
}

/// Lets those warps go on whose barriers are complete.
fn released(
    warps: &mut [Warp],
    around: &mut Around<'_>,
    arrived: &mut BTreeMap<u32, u32>,
) -> Result<bool, Box<DeviceFault>> {
    let mut waiting: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (number, warp) in warps.iter().enumerate() {
        if let Standing::Waits(arrival) = warp.standing {
            waiting.entry(arrival.barrier).or_default().push(number);
        }
    }
    let going = warps.iter().filter(|warp| warp.standing != Standing::Ended).count();
    let mut any = false;
    for (barrier, numbers) in waiting {
        let threads = numbers.iter().find_map(|&number| match warps[number].standing {
            Standing::Waits(arrival) => arrival.threads,
            _ => None,
        });
        let without = arrived.get(&barrier).copied().unwrap_or(0);
        let here = numbers.len() as u32 * LANES as u32 + without;
        let is_whole = numbers.len() == going && without == 0;
        let is_complete = match threads {
            // Threads that have ended are not waited for where the whole block is.
            None => here >= going as u32 * LANES as u32,
            Some(threads) => here >= threads || is_whole && threads as usize >= warps.len() * LANES,
        };
        if !is_complete {
            continue;
        }
        if let Some(threads) = threads.filter(|&threads| here > threads) {
            let kind =
                DeviceFaultKind::Barrier(format!("{here} threads came to barrier {barrier}, which is of {threads}"));
            return Err(fault(around, numbers[0] as u32, kind));
        }
        any = true;
        arrived.remove(&barrier);
        if is_whole {
            around.shared.ordered();
        } else {
            around.shared.ordered_otherwise();
        }
        numbers.into_iter().for_each(|number| warps[number].released());
    }
    Ok(any)
}

/// Nobody can go on.
fn stuck(warps: &[Warp], around: &Around<'_>) -> Box<DeviceFault> {
    let waiting: Vec<String> = warps
        .iter()
        .enumerate()
        .filter_map(|(number, warp)| match warp.standing {
            Standing::Waits(arrival) => Some(format!("warp {number} at barrier {}", arrival.barrier)),
            _ => None,
        })
        .collect();
    let kind = DeviceFaultKind::Barrier(format!("all warps wait and none comes: {}", waiting.join(", ")));
    fault(around, 0, kind)
}

fn fault(around: &Around<'_>, warp: u32, kind: DeviceFaultKind) -> Box<DeviceFault> {
    let (kernel, block) = (around.program.name.clone(), around.block);
    Box::new(DeviceFault { kernel, line: 0, opcode: "barrier".to_owned(), block, warp, kind })
}
