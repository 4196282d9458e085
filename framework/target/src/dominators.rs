//! Dominators of the nodes of a control-flow graph.

/// Returns the immediate dominator of each node: the nearest other node on every path from `entry` to it. The entry and
/// unreachable nodes map to themselves.
///
/// `successors` lists the successors of each node by index. On the reversed graph the results are post-dominators.
///
/// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
#[must_use]
pub fn immediate_dominators(entry: usize, successors: &[Vec<usize>]) -> Vec<usize> {
    let order = reverse_post_order(entry, successors);
    let mut rank = vec![0; successors.len()];
    order.iter().enumerate().for_each(|(at, &node)| rank[node] = at);
    let mut predecessors = vec![Vec::new(); order.len()];
    for (from, &node) in order.iter().enumerate() {
        successors[node].iter().for_each(|&to| predecessors[rank[to]].push(from));
    }
    // The immediate dominators found so far, by rank (index in reverse post-order); a dominator has a lower rank than
    // the nodes that it dominates.
    let mut above: Vec<Option<usize>> = vec![None; order.len()];
    above[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for node in 1..order.len() {
            let known = predecessors[node].iter().copied().filter(|&from| above[from].is_some());
            let found = known.reduce(|a, b| nearest(&above, a, b));
            changed |= found != above[node];
            above[node] = found;
        }
    }
    let mut dominators: Vec<usize> = (0..successors.len()).collect();
    for (&node, above) in order.iter().zip(above) {
        dominators[node] = above.map_or(node, |above| order[above]);
    }
    dominators
}

/// Returns the nearest node that dominates both nodes, or is one of them. Nodes are given by rank (index in reverse
/// post-order); `above` has the immediate dominator of each.
fn nearest(above: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if a > b { &mut a } else { &mut b };
        *lower = above[*lower].unwrap_or(0);
    }
    a
}

/// Returns the nodes that are reachable from `entry`, in reverse post-order; the entry is first.
fn reverse_post_order(entry: usize, successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; successors.len()];
    seen[entry] = true;
    let mut path = vec![(entry, 0)];
    while let Some((node, next)) = path.pop() {
        match successors[node].get(next) {
            Some(&to) => {
                path.push((node, next + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    order
}
