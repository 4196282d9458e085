//! Waits for asynchronous operations.

use tilewright_kernel::{Op, Queue, Region, Value};
use tilewright_plugin::CompileError;

use crate::Dialect;
use crate::translate::{Body, Typed};

impl<'ctx> Body<'_, 'ctx> {
    /// What is pending lies where it will be; the wait says that it is there.
    pub(crate) fn wait(
        &mut self,
        queue: Queue,
        outstanding: u32,
        values: &[Value],
    ) -> Result<Vec<Typed<'ctx>>, CompileError> {
        let least = least_of_group(self.dialect, queue, &self.kernel.body).unwrap_or(0);
        self.dialect.wait(&self.emit, queue, outstanding, least)?;
        let pending = values.iter().map(|&value| self.value(value)).collect::<Result<Vec<_>, _>>()?;
        let given: Vec<_> = pending.iter().map(|value| (value.ty.awaited(), value.value)).collect();
        let there = self.dialect.awaited(&self.emit, queue, &given)?;
        if there.len() != given.len() {
            return Err(CompileError::Backend("a wait gave more or fewer values than it was given".to_owned()));
        }
        Ok(given.into_iter().zip(there).map(|((ty, _), value)| Typed::new(ty, value)).collect())
    }
}

/// How many instructions each group of the queue has at least; none where no group is committed. Of a group that
/// begins before its region, what the region adds.
fn least_of_group(dialect: &dyn Dialect, queue: Queue, region: &Region) -> Option<u32> {
    let (mut least, mut open) = (None, 0);
    let mut found = |count: u32| least = Some(least.map_or(count, |least: u32| least.min(count)));
    for statement in &region.statements {
        match &statement.op {
            Op::Instruction { name, .. } if dialect.queue_of(name) == Some(queue) => open += 1,
            Op::Commit { queue: committed } if *committed == queue => found(std::mem::take(&mut open)),
            op => {
                let inner: Vec<_> =
                    op.regions().into_iter().filter_map(|inner| least_of_group(dialect, queue, inner)).collect();
                if !inner.is_empty() {
                    // What was open before may have been closed within.
                    open = 0;
                }
                inner.into_iter().for_each(&mut found);
            }
        }
    }
    least
}
