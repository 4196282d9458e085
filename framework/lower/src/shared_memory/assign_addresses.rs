//! Assigns addresses to buffers: buffers that are live at the same time are disjoint.

use std::cmp::Reverse;

use tilewright_kernel::SharedBuffer;

use super::uses::Uses;

/// Assigns addresses to buffers, one after the other, each at the lowest address that no other buffer occupies while it
/// is live. It tries several orders (largest first, longest live first, first used first), and keeps the one that takes
/// the fewest bytes.
pub(super) fn assign_addresses(buffers: &mut [SharedBuffer], uses: &Uses) {
    let live = |buffer: usize| {
        let own = &uses.buffers[buffer];
        let first = own.span.map_or(0, |(first, _)| first);
        (own.end.saturating_sub(first), first)
    };
    let largest = |buffer: usize| (Reverse(buffers[buffer].bytes), buffer);
    let mut orders: [Vec<usize>; 3] = std::array::from_fn(|_| (0..buffers.len()).collect());
    orders[0].sort_by_key(|&buffer| largest(buffer));
    orders[1].sort_by_key(|&buffer| (!uses.buffers[buffer].is_kept, Reverse(live(buffer).0), largest(buffer)));
    orders[2].sort_by_key(|&buffer| (!uses.buffers[buffer].is_kept, live(buffer).1, largest(buffer)));
    let placed = orders.map(|order| place(buffers, uses, &order));
    let bytes =
        |addresses: &[u32]| addresses.iter().zip(&*buffers).map(|(&at, own)| at.saturating_add(own.bytes)).max();
    // Of orders that take equally many bytes, the first one is kept.
    let best = placed.into_iter().min_by_key(|addresses| bytes(addresses)).unwrap_or_default();
    buffers.iter_mut().zip(best).for_each(|(buffer, at)| buffer.at = Some(at));
}

/// Returns the address of each buffer if they are placed in the order `order`, which has indices of buffers.
fn place(buffers: &[SharedBuffer], uses: &Uses, order: &[usize]) -> Vec<u32> {
    let mut addresses = vec![0; buffers.len()];
    for (index, &buffer) in order.iter().enumerate() {
        let own = buffers[buffer];
        let mut taken: Vec<(u32, u32)> = (order[..index].iter().copied())
            .filter(|&other| interferes(uses, buffer, other))
            .map(|other| (addresses[other], buffers[other].bytes))
            .collect();
        taken.sort_unstable();
        let mut at = 0u32;
        for (start, bytes) in taken {
            if at.saturating_add(own.bytes) > start {
                at = at.max(start.saturating_add(bytes)).next_multiple_of(own.alignment.max(1));
            }
        }
        addresses[buffer] = at;
    }
    addresses
}

/// Whether two buffers may be live at the same time, so that they must not overlap.
fn interferes(uses: &Uses, a: usize, b: usize) -> bool {
    let (a, b) = (&uses.buffers[a], &uses.buffers[b]);
    if a.is_kept || b.is_kept {
        return true;
    }
    // A buffer that is never used interferes with none. Buffers of different phases do not interfere, because a barrier
    // of all warp groups separates phases.
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
