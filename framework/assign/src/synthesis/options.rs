//! What synthesis may do.

/// Which parts of synthesis are done, and how much of the tree of choices is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Layouts of shared memory are found; else elements lie row after row.
    pub memory: bool,
    /// Which lane copies what to shared memory is found; else lanes take single elements in turn.
    pub task_mapping: bool,
    /// Copies to shared memory go ahead of what uses them; else each is waited for.
    pub pipeline: bool,
    /// Branches that cannot be better than the best leaf are not looked at.
    pub pruned: bool,
    /// The most leaves of the tree that are looked at.
    pub leaves: usize,
    /// The blocks of a launch, for which the model predicts; as many as fill the target some times where it is not said.
    pub blocks: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory: true, task_mapping: true, pipeline: true, pruned: true, leaves: 64, blocks: None }
    }
}
