//! Computes the reconvergence points of diverged lanes: the immediate post-dominator of the diverging instruction.

use tilewright_target::immediate_dominators;

/// Stands for the end of the program as a reconvergence point, if lanes do not reconverge earlier.
pub(super) const END: u32 = u32::MAX;

/// The possible successors of one step (an instruction of the program).
pub(super) struct Follows {
    /// Steps that lanes may branch to from this step.
    pub(super) targets: Vec<u32>,
    /// Whether lanes may continue with the next step in order.
    pub(super) falls_through: bool,
    /// Whether lanes may exit at the step.
    pub(super) ends: bool,
}

/// Returns, for each step (instruction), the step where lanes that diverge at it reconverge. Lanes diverge only at
/// branches, so the entries of other steps are unused.
pub(super) fn reconvergence_points(steps: &[Follows]) -> Vec<u32> {
    let graph = Graph::of(steps);
    let dominators = graph.post_dominators();
    let reconvergence = |step: usize| {
        let block_of_step = graph.block_of[step];
        // `post_dominators` gives a block from which the end is unreachable itself as post-dominator.
        let block = Some(dominators[block_of_step]).filter(|&block| block != block_of_step);
        block.and_then(|block| graph.first.get(block)).copied().unwrap_or(END)
    };
    (0..steps.len()).map(reconvergence).collect()
}

struct Graph {
    /// Index of the basic block that contains each step.
    block_of: Vec<usize>,
    /// The first step of each basic block.
    first: Vec<u32>,
    /// Successors of each basic block. The end of the program is the last block.
    after: Vec<Vec<usize>>,
}

impl Graph {
    fn of(steps: &[Follows]) -> Self {
        let mut begins = vec![false; steps.len() + 1];
        begins[0] = true;
        for (at, step) in steps.iter().enumerate() {
            let ends = !step.targets.is_empty() || !step.falls_through || step.ends;
            begins[at + 1] |= ends;
            step.targets.iter().for_each(|&target| begins[(target as usize).min(steps.len())] = true);
        }
        let first: Vec<u32> = (0..steps.len()).filter(|&at| begins[at]).map(|at| at as u32).collect();
        let mut block_of = vec![first.len(); steps.len() + 1];
        let mut block = 0;
        for (at, block_of_step) in block_of.iter_mut().enumerate().take(steps.len()) {
            block += usize::from(begins[at] && at > 0);
            *block_of_step = block;
        }
        let after = (0..first.len())
            .map(|block| {
                let last = first.get(block + 1).map_or(steps.len(), |&next| next as usize) - 1;
                let targets = steps[last].targets.iter().map(|&target| block_of[(target as usize).min(steps.len())]);
                let ends = steps[last].ends.then_some(first.len());
                targets.chain(steps[last].falls_through.then(|| block_of[last + 1])).chain(ends).collect()
            })
            .collect();
        Self { block_of, first, after }
    }

    /// Returns the immediate post-dominator of each basic block; the block itself if the end of the program is
    /// unreachable from it.
    fn post_dominators(&self) -> Vec<usize> {
        let end = self.first.len();
        let mut before = vec![Vec::new(); end + 1];
        for (block, after) in self.after.iter().enumerate() {
            after.iter().for_each(|&next| before[next].push(block));
        }
        immediate_dominators(end, &before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(steps: &[(&[u32], bool)]) -> Vec<Follows> {
        let follows = |&(targets, falls_through): &(&[u32], bool)| {
            let ends = targets.is_empty() && !falls_through;
            Follows { targets: targets.to_vec(), falls_through, ends }
        };
        steps.iter().map(follows).collect()
    }

    #[test]
    fn lanes_reconverge_after_an_if() {
        // 0 jumps to 3; 1, 2 jump to 4; 3 falls through to 4; 4 exits.
        let steps = graph(&[(&[3], true), (&[], true), (&[4], false), (&[], true), (&[], false)]);
        assert_eq!(reconvergence_points(&steps)[0], 4);
    }

    #[test]
    fn lanes_reconverge_after_a_loop() {
        // 1 jumps back to 0 or continues with 2.
        let steps = graph(&[(&[], true), (&[0], true), (&[], false)]);
        assert_eq!(reconvergence_points(&steps)[1], 2);
    }

    #[test]
    fn a_cold_block_after_the_end_returns() {
        // 0 jumps to 3, which jumps back to 1.
        let steps = graph(&[(&[3], true), (&[], true), (&[], false), (&[1], false)]);
        assert_eq!(reconvergence_points(&steps)[0], 1);
    }

    #[test]
    fn a_path_that_only_faults_does_not_prevent_reconvergence() {
        // 0 jumps to 2, which traps.
        let mut steps = graph(&[(&[2], true), (&[], false), (&[], false)]);
        steps[2].ends = false;
        assert_eq!(reconvergence_points(&steps)[0], 1);
    }

    #[test]
    fn lanes_that_exit_separately_do_not_reconverge() {
        let steps = graph(&[(&[2], true), (&[], false), (&[], false)]);
        assert_eq!(reconvergence_points(&steps)[0], END);
        assert_eq!(reconvergence_points(&graph(&[(&[0], false)]))[0], END);
    }
}
