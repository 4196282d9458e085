//! Dominators against their definition: a node dominates the nodes that cannot be reached without it.

use proptest::prelude::*;
use tilewright_target::immediate_dominators;

/// For each node, whether it is reachable from the entry without passing through the node `without`.
fn reached(entry: usize, successors: &[Vec<usize>], without: Option<usize>) -> Vec<bool> {
    let mut seen = vec![false; successors.len()];
    let mut open: Vec<usize> = (without != Some(entry)).then_some(entry).into_iter().collect();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut seen[node], true) {
            open.extend(successors[node].iter().filter(|&&to| Some(to) != without));
        }
    }
    seen
}

fn by_definition(entry: usize, successors: &[Vec<usize>]) -> Vec<usize> {
    let nodes = 0..successors.len();
    let reachable = reached(entry, successors, None);
    let without: Vec<Vec<bool>> = nodes.clone().map(|node| reached(entry, successors, Some(node))).collect();
    let dominates = |a: usize, b: usize| reachable[b] && !without[a][b];
    let immediate = |node: usize| {
        let strict = nodes.clone().filter(|&other| other != node && dominates(other, node));
        // Dominators of a node form a chain; the nearest one is dominated by the most others.
        strict.max_by_key(|&other| nodes.clone().filter(|&above| dominates(above, other)).count()).unwrap_or(node)
    };
    nodes.clone().map(immediate).collect()
}

#[test]
fn every_graph_of_four_nodes_has_the_dominators_of_the_definition() {
    for edges in 0u32..1 << 16 {
        let successors: Vec<Vec<usize>> =
            (0..4).map(|from| (0..4).filter(|to| edges >> (4 * from + to) & 1 == 1).collect()).collect();
        assert_eq!(immediate_dominators(0, &successors), by_definition(0, &successors), "{successors:?}");
    }
}

proptest! {
    #[test]
    fn larger_graphs_have_the_dominators_of_the_definition(
        entry in 0usize..12,
        successors in prop::collection::vec(prop::collection::vec(0usize..12, 0..4), 12),
    ) {
        prop_assert_eq!(immediate_dominators(entry, &successors), by_definition(entry, &successors));
    }
}
