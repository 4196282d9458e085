//! Emits waits for asynchronous operations as LLVM instructions.

use tilewright_kernel::{Op, Queue, Region, Value};
use tilewright_plugin::CompileError;

use crate::TargetDialect;
use crate::body::{Body, Typed};

impl<'ctx> Body<'_, 'ctx> {
    /// Emits a wait until at most `outstanding` groups of the queue are in flight. Returns the pending `values`, which
    /// the wait completes, as values that can be read.
    pub(crate) fn wait(
        &mut self,
        queue: Queue,
        outstanding: u32,
        values: &[Value],
    ) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let min_outstanding = min_outstanding_of_group(self.dialect, queue, &self.kernel.body).unwrap_or(0);
        self.dialect.wait(&self.emit, queue, outstanding, min_outstanding)?;
        let pending = values.iter().map(|&value| self.value(value)).collect::<Result<Vec<_>, _>>()?;
        let given: Vec<_> = pending.iter().map(|value| (value.ty.after_wait(), value.value)).collect();
        let there = self.dialect.after_wait(&self.emit, queue, &given)?;
        if there.len() != given.len() {
            return Err(CompileError::Backend("a wait returned another number of values than its operands".to_owned()));
        }
        Ok(given.into_iter().zip(there).map(|((ty, _), value)| Typed::new(ty, value)).collect())
    }
}

/// Returns the smallest number of instructions in any group that the region commits on the queue; `None` if it commits
/// no group. For a group that starts before the region, only the instructions in the region count, so the result is a
/// lower bound.
fn min_outstanding_of_group(dialect: &dyn TargetDialect, queue: Queue, region: &Region) -> Option<u32> {
    let (mut min_outstanding, mut open) = (None, 0);
    let mut found = |count: u32| {
        min_outstanding = Some(min_outstanding.map_or(count, |min_outstanding: u32| min_outstanding.min(count)))
    };
    for statement in &region.statements {
        match &statement.op {
            Op::Instruction { name, .. } if dialect.queue_of(name) == Some(queue) => open += 1,
            Op::Commit { queue: committed } if *committed == queue => found(std::mem::take(&mut open)),
            op => {
                let inner: Vec<_> = op
                    .regions()
                    .into_iter()
                    .filter_map(|inner| min_outstanding_of_group(dialect, queue, inner))
                    .collect();
                if !inner.is_empty() {
                    // The nested region may have committed the open group, so its earlier instructions no longer count.
                    open = 0;
                }
                inner.into_iter().for_each(&mut found);
            }
        }
    }
    min_outstanding
}
