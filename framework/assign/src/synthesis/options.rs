//! Options of layout synthesis for programs with explicit memory.

/// The enabled parts of synthesis, and the limits of its search. [`Default`] gives the usual ones; the methods
/// `with_...` change one option each.
///
/// # Examples
/// ```
/// use tilewright_assign::synthesis::SynthesisOptions;
///
/// let options = SynthesisOptions::default().with_pipelining(false).with_launch_blocks(64);
/// assert!(options.memory && !options.pipeline && options.blocks == Some(64));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SynthesisOptions {
    /// Whether layouts of shared memory are searched; otherwise they are row-major.
    pub memory: bool,
    /// Whether the task mapping (which lane copies which elements) of copies to shared memory is searched; otherwise
    /// each lane copies single elements.
    pub task_mapping: bool,
    /// Whether copies to shared memory are pipelined; otherwise each is waited for at once.
    pub pipeline: bool,
    /// Whether branches of the search are pruned if their lower bound exceeds the best leaf (complete choice).
    pub pruned: bool,
    /// Max number of leaves (complete choices) that are solved.
    pub leaves: usize,
    /// Max number of stages of a loop whose tensors state none; `None` for the search's own maximum.
    pub stages: Option<u32>,
    /// Number of blocks of the launch, for the performance model; `None` for enough blocks to fill the target several
    /// times.
    pub blocks: Option<u64>,
}

impl Default for SynthesisOptions {
    fn default() -> Self {
        Self { memory: true, task_mapping: true, pipeline: true, pruned: true, leaves: 128, stages: None, blocks: None }
    }
}

impl SynthesisOptions {
    /// Returns the options with the search for layouts of shared memory on or off.
    #[must_use]
    pub fn with_memory_search(self, memory: bool) -> Self {
        Self { memory, ..self }
    }

    /// Returns the options with the search for the task mapping of copies to shared memory on or off.
    #[must_use]
    pub fn with_task_mapping_search(self, task_mapping: bool) -> Self {
        Self { task_mapping, ..self }
    }

    /// Returns the options with the pipelining of copies to shared memory on or off.
    #[must_use]
    pub fn with_pipelining(self, pipeline: bool) -> Self {
        Self { pipeline, ..self }
    }

    /// Returns the options with pruning by lower bounds on or off.
    #[must_use]
    pub fn with_pruning(self, pruned: bool) -> Self {
        Self { pruned, ..self }
    }

    /// Returns the options with this maximum of solved leaves (complete choices).
    #[must_use]
    pub fn with_max_leaves(self, leaves: usize) -> Self {
        Self { leaves, ..self }
    }

    /// Returns the options with this maximum of stages of loops whose tensors state none; `None` for the search's own.
    #[must_use]
    pub fn with_max_stages(self, stages: impl Into<Option<u32>>) -> Self {
        Self { stages: stages.into(), ..self }
    }

    /// Returns the options with this number of blocks of the launch; `None` for an assumed number.
    #[must_use]
    pub fn with_launch_blocks(self, blocks: impl Into<Option<u64>>) -> Self {
        Self { blocks: blocks.into(), ..self }
    }
}
