//! Queues of a warp's asynchronous operations: their commit groups and their pending results.

use std::collections::{HashMap, VecDeque};

use super::access::Memories;
use super::arithmetic::reduce_elements;
use super::fault::FaultKind;
use super::program::Copied;
use super::shared::{Accessor, CompletionEffect, Proxy};
use tilewright_kernel::Queue;

/// The state of one queue of asynchronous operations. Operations are numbered in issue order.
#[derive(Default)]
struct QueueState {
    /// Completion effects of the operations that have been issued but not committed.
    open: Vec<CompletionEffect>,
    /// Committed groups that are not complete, the oldest first: each as one more than the number of its last
    /// operation, and its completion effects.
    groups: VecDeque<(u64, Vec<CompletionEffect>)>,
    issued: u64,
    /// Operations below this number are complete.
    finished: u64,
}

/// A pending value, by the asynchronous operation that produces it.
#[derive(Clone, Copy)]
struct PendingValue {
    queue: Queue,
    number: u64,
    /// Whether the value was ready from the start, as [`Queues::add_ready`] makes it.
    is_ready: bool,
    /// Whether another instruction has taken the value as its accumulator.
    is_consumed: bool,
}

/// The queues of one warp, and its pending values.
#[derive(Default)]
pub(super) struct Queues {
    lines: HashMap<Queue, QueueState>,
    /// The pending values, each by its first register.
    pending: HashMap<usize, PendingValue>,
}

impl Queues {
    /// Issues an operation on a queue. `landings` are the effects of the operation at its completion, `gives` the first
    /// registers of the pending values that it produces.
    pub(super) fn issue(&mut self, queue: Queue, landings: Vec<CompletionEffect>, gives: &[usize]) {
        let line = self.lines.entry(queue).or_default();
        let ticket = PendingValue { queue, number: line.issued, is_ready: false, is_consumed: false };
        line.issued += 1;
        line.open.extend(landings);
        self.pending.extend(gives.iter().map(|&register| (register, ticket)));
    }

    /// Makes the value at register `register` a pending value of the queue that needs no wait.
    pub(super) fn add_ready(&mut self, queue: Queue, register: usize) {
        self.pending.insert(register, PendingValue { queue, number: 0, is_ready: true, is_consumed: false });
    }

    pub(super) fn commit(&mut self, queue: Queue) {
        let line = self.lines.entry(queue).or_default();
        line.groups.push_back((line.issued, std::mem::take(&mut line.open)));
    }

    /// Takes the completion effects of the operations issued since the last commit; the caller executes them when an
    /// mbarrier completes.
    pub(super) fn take_open(&mut self, queue: Queue) -> Vec<CompletionEffect> {
        std::mem::take(&mut self.lines.entry(queue).or_default().open)
    }

    /// Completes all commit groups of the queue except the `outstanding` latest ones.
    pub(super) fn wait(
        &mut self,
        queue: Queue,
        outstanding: u32,
        memories: &mut Memories<'_>,
        accessor: &Accessor<'_>,
    ) {
        let line = self.lines.entry(queue).or_default();
        while line.groups.len() > outstanding as usize {
            let Some((end, landings)) = line.groups.pop_front() else { return };
            line.finished = end;
            landings.into_iter().for_each(|landing| complete(landing, memories, accessor));
        }
    }

    /// Checks that the pending value at register `register` is ready after a wait for the queue.
    pub(super) fn check_ready(&self, queue: Queue, register: usize) -> Result<(), FaultKind> {
        let ticket = self.find_ticket(queue, register)?;
        let finished = self.lines.get(&queue).map_or(0, |line| line.finished);
        if ticket.is_ready || ticket.number < finished {
            return Ok(());
        }
        Err(FaultKind::Pending("this wait does not complete its group".to_owned()))
    }

    /// Passes the pending value at register `register` to another operation of the queue as its accumulator.
    pub(super) fn consume(&mut self, queue: Queue, register: usize) -> Result<(), FaultKind> {
        let ticket = self.find_ticket(queue, register)?;
        self.pending.insert(register, PendingValue { is_consumed: true, ..ticket });
        Ok(())
    }

    fn find_ticket(&self, queue: Queue, register: usize) -> Result<PendingValue, FaultKind> {
        let refused = |message: String| Err(FaultKind::Pending(message));
        match self.pending.get(&register) {
            None => refused("no operation of a queue produces it".to_owned()),
            Some(ticket) if ticket.is_consumed => refused("another instruction has consumed it".to_owned()),
            Some(ticket) if ticket.queue != queue => {
                refused(format!("it is on the queue `{}`, not on `{}`", ticket.queue.name(), queue.name()))
            }
            Some(ticket) => Ok(*ticket),
        }
    }

    /// Marks the values to which a region's entry or exit copies pending values as pending too. A value is pending
    /// while the asynchronous operation that writes it has not been waited for.
    pub(super) fn copy_pending(&mut self, copies: &[Copied]) {
        if self.pending.is_empty() {
            return;
        }
        let moved: Vec<_> = copies.iter().filter_map(|copy| Some((copy.to, *self.pending.get(&copy.from)?))).collect();
        self.pending.extend(moved);
    }
}

/// Executes one completion effect of an operation.
pub(super) fn complete(landing: CompletionEffect, memories: &mut Memories<'_>, accessor: &Accessor<'_>) {
    let Some(memory) = memories.shared.get_mut(usize::from(accessor.block)) else { return };
    match landing {
        CompletionEffect::WriteGlobal { address, data } => {
            // The destination was checked when the operation was issued.
            let _ = memories.global.store(address, &data);
        }
        CompletionEffect::CombineGlobal { address, data, operation, element } => {
            let mut before = vec![0; data.len()];
            // The destination was checked when the operation was issued.
            let _ = memories.global.load(address, &mut before);
            let _ = memories.global.store(address, &reduce_elements(operation, element, &before, &data));
        }
        CompletionEffect::Write { access_id, data, lane } => {
            let who = Accessor { lane, ..accessor.clone() };
            memory.complete_write(access_id, &data, Proxy::Plain, &who);
        }
        CompletionEffect::Read { access_id } => memory.complete_read(access_id, accessor),
        CompletionEffect::Tensor { access_id } => memories.tensor.complete(access_id, accessor),
    }
}
