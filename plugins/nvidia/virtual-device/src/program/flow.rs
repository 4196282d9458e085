//! Where lanes that parted meet again: at the immediate post-dominator of the step at which they part.

use tilewright_target::dominators;

/// The step that comes after all others: lanes that meet nowhere.
pub(super) const END: u32 = u32::MAX;

/// What may follow a step.
pub(super) struct Follows {
    /// Steps that it may jump to.
    pub(super) targets: Vec<u32>,
    /// Whether the next step may follow.
    pub(super) falls_through: bool,
    /// Whether lanes may end there.
    pub(super) ends: bool,
}

/// For each step its meeting point; only those of steps that jump mean something.
pub(super) fn meetings(steps: &[Follows]) -> Vec<u32> {
    let graph = Graph::of(steps);
    let dominators = graph.post_dominators();
    let meeting = |step: usize| {
        let own = graph.block_of[step];
        // A block from which the end is not reached is its own.
        let block = Some(dominators[own]).filter(|&block| block != own);
        block.and_then(|block| graph.first.get(block)).copied().unwrap_or(END)
    };
    (0..steps.len()).map(meeting).collect()
}

struct Graph {
    /// The block of each step.
    block_of: Vec<usize>,
    /// The first step of each block.
    first: Vec<u32>,
    /// Blocks after each; the end is one more block.
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
        for (at, own) in block_of.iter_mut().enumerate().take(steps.len()) {
            block += usize::from(begins[at] && at > 0);
            *own = block;
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

    /// The immediate post-dominator of each block; of those from which the end is not reached the block itself.
    fn post_dominators(&self) -> Vec<usize> {
        let end = self.first.len();
        let mut before = vec![Vec::new(); end + 1];
        for (block, after) in self.after.iter().enumerate() {
            after.iter().for_each(|&next| before[next].push(block));
        }
        dominators(end, &before)
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
    fn lanes_meet_behind_a_choice() {
        // 0 jumps to 3; 1, 2 jump to 4; 3 falls to 4; 4 ends.
        let steps = graph(&[(&[3], true), (&[], true), (&[4], false), (&[], true), (&[], false)]);
        assert_eq!(meetings(&steps)[0], 4);
    }

    #[test]
    fn lanes_meet_behind_a_loop() {
        // 1 goes back to 0 or on to 2.
        let steps = graph(&[(&[], true), (&[0], true), (&[], false)]);
        assert_eq!(meetings(&steps)[1], 2);
    }

    #[test]
    fn a_cold_part_behind_the_end_comes_back() {
        // 0 jumps to 3, which comes back to 1.
        let steps = graph(&[(&[3], true), (&[], true), (&[], false), (&[1], false)]);
        assert_eq!(meetings(&steps)[0], 1);
    }

    #[test]
    fn a_part_that_only_faults_does_not_keep_lanes_from_meeting() {
        // 0 jumps to 2, which traps.
        let mut steps = graph(&[(&[2], true), (&[], false), (&[], false)]);
        steps[2].ends = false;
        assert_eq!(meetings(&steps)[0], 1);
    }

    #[test]
    fn lanes_that_end_apart_meet_nowhere() {
        let steps = graph(&[(&[2], true), (&[], false), (&[], false)]);
        assert_eq!(meetings(&steps)[0], END);
        assert_eq!(meetings(&graph(&[(&[0], false)]))[0], END);
    }
}
