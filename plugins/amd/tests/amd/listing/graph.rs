//! Bytes that a lane accesses at most between two synchronizations, over all paths of a control-flow graph.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes that a lane accesses: loads and stores of shared memory, loads and stores of global memory. `u64::MAX` if a
/// loop without synchronization repeats an access.
pub type Bytes = [u64; 4];

/// The kinds of accesses, in the order of [`Bytes`].
pub const KINDS: [&str; 4] = ["shared loads", "shared stores", "global loads", "global stores"];

/// A node: the bytes that it accesses, or the number of a synchronization, and the nodes that may follow.
#[derive(Debug, Clone, Default)]
pub struct Node {
    pub bytes: Bytes,
    pub synchronization: Option<u32>,
    pub successors: Vec<usize>,
}

/// Two successive synchronizations; `None` for the beginning and the end of the kernel.
pub type Interval = (Option<u32>, Option<u32>);

/// Returns, for each interval of a graph, the most bytes of any path. The first node is the entry and no
/// synchronization.
pub fn most_bytes(nodes: &[Node]) -> BTreeMap<Interval, Bytes> {
    let mut most = BTreeMap::new();
    let starts =
        nodes.iter().enumerate().filter_map(|(at, node)| node.synchronization.map(|number| (at, Some(number))));
    for (start, from) in std::iter::once((0, None)).chain(starts) {
        for (to, bytes) in most_from(nodes, start) {
            let entry: &mut Bytes = most.entry((from, to)).or_default();
            *entry = larger(*entry, bytes);
        }
    }
    most
}

fn larger(a: Bytes, b: Bytes) -> Bytes {
    std::array::from_fn(|kind| a[kind].max(b[kind]))
}

fn sum(a: Bytes, b: Bytes) -> Bytes {
    std::array::from_fn(|kind| a[kind].saturating_add(b[kind]))
}

/// Returns the most bytes from one node to each synchronization, or the end, that follows without another in between.
fn most_from(nodes: &[Node], start: usize) -> BTreeMap<Option<u32>, Bytes> {
    let components = components(nodes, start);
    let component_of: BTreeMap<usize, usize> = components
        .iter()
        .enumerate()
        .flat_map(|(number, members)| members.iter().map(move |&at| (at, number)))
        .collect();
    let mut ends: BTreeMap<Option<u32>, Bytes> = BTreeMap::new();
    let mut reached: BTreeMap<usize, Bytes> = BTreeMap::from([(component_of[&start], Bytes::default())]);
    // The components come in topological order, so predecessors are done.
    for (number, members) in components.iter().enumerate() {
        let Some(&before) = reached.get(&number) else { continue };
        let inner = members.iter().fold(Bytes::default(), |bytes, &at| sum(bytes, nodes[at].bytes));
        let is_loop = members.len() > 1 || members.iter().any(|&at| nodes[at].successors.contains(&at));
        let inner = if is_loop { inner.map(|bytes| if bytes == 0 { 0 } else { u64::MAX }) } else { inner };
        let after = sum(before, inner);
        for &at in members {
            if nodes[at].successors.is_empty() {
                let end = ends.entry(None).or_default();
                *end = larger(*end, after);
            }
            for &next in &nodes[at].successors {
                if let Some(to) = nodes[next].synchronization {
                    let end = ends.entry(Some(to)).or_default();
                    *end = larger(*end, after);
                } else if component_of[&next] != number {
                    let entry = reached.entry(component_of[&next]).or_default();
                    *entry = larger(*entry, after);
                }
            }
        }
    }
    ends
}

/// Returns the strongly connected components that are reachable from a node through nodes without synchronization, in
/// topological order.
fn components(nodes: &[Node], start: usize) -> Vec<Vec<usize>> {
    let inner = |at: usize| nodes[at].successors.iter().copied().filter(|&next| nodes[next].synchronization.is_none());
    // Kosaraju's algorithm: an order by the end of visits, then components of the reversed graph.
    let (mut seen, mut order) = (BTreeSet::from([start]), Vec::new());
    let mut stack = vec![(start, inner(start).collect::<Vec<_>>())];
    while let Some((at, next)) = stack.last_mut() {
        match next.pop() {
            Some(next) if seen.insert(next) => stack.push((next, inner(next).collect())),
            Some(_) => {}
            None => {
                order.push(*at);
                stack.pop();
            }
        }
    }
    let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &at in &order {
        inner(at).for_each(|next| before.entry(next).or_default().push(at));
    }
    let (mut taken, mut components) = (BTreeSet::new(), Vec::new());
    for &root in order.iter().rev() {
        if !taken.insert(root) {
            continue;
        }
        let (mut members, mut waiting) = (Vec::new(), vec![root]);
        while let Some(at) = waiting.pop() {
            members.push(at);
            let earlier = before.get(&at).into_iter().flatten().copied();
            waiting.extend(earlier.filter(|&earlier| taken.insert(earlier)));
        }
        components.push(members);
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(load: u64, synchronization: Option<u32>, successors: &[usize]) -> Node {
        Node { bytes: [load, 0, 0, 0], synchronization, successors: successors.to_vec() }
    }

    /// Checks a branch, a loop around a barrier, and a loop without one.
    #[test]
    fn intervals_have_the_bytes_of_their_longest_paths() {
        let nodes = [
            node(4, None, &[1, 2]),
            node(8, None, &[3]),
            node(16, None, &[3]),
            node(0, Some(0), &[4]),
            node(2, None, &[3, 5]),
            node(1, None, &[5, 6]),
            node(0, None, &[]),
        ];
        let most = most_bytes(&nodes);
        let loads = |interval: Interval| most.get(&interval).map(|bytes| bytes[0]);
        assert_eq!(loads((None, Some(0))), Some(20));
        assert_eq!(loads((Some(0), Some(0))), Some(2));
        assert_eq!(loads((Some(0), None)), Some(u64::MAX));
        assert_eq!(most.len(), 3);
    }
}
