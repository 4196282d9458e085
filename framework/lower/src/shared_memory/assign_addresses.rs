//! Assigns addresses to buffers: buffers that are live at the same time are disjoint.

use std::cmp::Reverse;

use tilewright_kernel::SharedBuffer;

use super::uses::Uses;

/// Assigns addresses to buffers, the largest first, each at the lowest address that no buffer occupies while it is
/// live.
pub(super) fn assign_addresses(buffers: &mut [SharedBuffer], uses: &Uses) {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&buffer| (Reverse(buffers[buffer].bytes), buffer));
    let mut placed: Vec<usize> = Vec::with_capacity(order.len());
    for buffer in order {
        let own = buffers[buffer];
        let mut taken: Vec<(u32, u32)> = (placed.iter().copied())
            .filter(|&other| interferes(uses, buffer, other))
            .map(|other| (buffers[other].at.unwrap_or(0), buffers[other].bytes))
            .collect();
        taken.sort_unstable();
        let mut at = 0u32;
        for (start, bytes) in taken {
            if at.saturating_add(own.bytes) > start {
                at = at.max(start.saturating_add(bytes)).next_multiple_of(own.alignment.max(1));
            }
        }
        buffers[buffer].at = Some(at);
        placed.push(buffer);
    }
}

/// Whether two buffers may be live at the same time, so that they must not overlap.
fn interferes(uses: &Uses, a: usize, b: usize) -> bool {
    let (a, b) = (&uses.buffers[a], &uses.buffers[b]);
    if a.is_kept || b.is_kept {
        return true;
    }
    // An unused buffer conflicts with none, and all warp groups have passed a common barrier between different parts of
    // the program.
    let (Some((first_a, last_a)), Some((first_b, last_b))) = (a.phases, b.phases) else { return false };
    if last_a < first_b || last_b < first_a {
        return false;
    }
    match (a.span, b.span) {
        (Some((first_a, _)), Some((first_b, _))) if a.groups == b.groups && a.groups.len() == 1 => {
            first_a <= b.end && first_b <= a.end
        }
        _ => true,
    }
}
