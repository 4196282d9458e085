//! What a warp has issued asynchronously, in the groups in which it completes, and the values that it will give.

use std::collections::{HashMap, VecDeque};

use super::access::Memories;
use super::fault::FaultKind;
use super::program::Copied;
use super::shared::{Accessor, Landing, Proxy};
use tilewright_kernel::Queue;

/// One queue. Operations are numbered as they are issued.
#[derive(Default)]
struct Line {
    /// Issued and not yet committed.
    open: Vec<Landing>,
    /// Committed groups, the oldest first; each with the number after its last operation.
    groups: VecDeque<(u64, Vec<Landing>)>,
    issued: u64,
    /// Operations below this number are finished.
    finished: u64,
}

/// The operation that will give a value.
#[derive(Clone, Copy)]
struct Ticket {
    queue: Queue,
    number: u64,
    /// Whether it was there from the beginning.
    there: bool,
    /// Whether another instruction has taken it as its accumulator.
    handed_on: bool,
}

/// The queues of one warp.
#[derive(Default)]
pub(super) struct Queues {
    lines: HashMap<Queue, Line>,
    /// By the place of a value in the register file.
    pending: HashMap<usize, Ticket>,
}

impl Queues {
    /// Adds an operation, which will give the values at these places.
    pub(super) fn issue(&mut self, queue: Queue, landings: Vec<Landing>, gives: &[usize]) {
        let line = self.lines.entry(queue).or_default();
        let ticket = Ticket { queue, number: line.issued, there: false, handed_on: false };
        line.issued += 1;
        line.open.extend(landings);
        self.pending.extend(gives.iter().map(|&place| (place, ticket)));
    }

    /// Says that the value at this place is one of the queue, and there.
    pub(super) fn pend(&mut self, queue: Queue, place: usize) {
        self.pending.insert(place, Ticket { queue, number: 0, there: true, handed_on: false });
    }

    pub(super) fn commit(&mut self, queue: Queue) {
        let line = self.lines.entry(queue).or_default();
        line.groups.push_back((line.issued, std::mem::take(&mut line.open)));
    }

    /// Takes what was issued since the last commit, to be finished elsewhere.
    pub(super) fn take_open(&mut self, queue: Queue) -> Vec<Landing> {
        std::mem::take(&mut self.lines.entry(queue).or_default().open)
    }

    /// Lands all groups of the queue but the latest so many.
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
            landings.into_iter().for_each(|landing| land(landing, memories, accessor));
        }
    }

    /// Whether the value at this place is there, after a wait for the queue.
    pub(super) fn take(&self, queue: Queue, place: usize) -> Result<(), FaultKind> {
        let ticket = self.held(queue, place)?;
        let finished = self.lines.get(&queue).map_or(0, |line| line.finished);
        if ticket.there || ticket.number < finished {
            return Ok(());
        }
        Err(FaultKind::Pending("its group is not finished by this wait".to_owned()))
    }

    /// Hands the value at this place on to another operation of the queue.
    pub(super) fn hand_on(&mut self, queue: Queue, place: usize) -> Result<(), FaultKind> {
        let ticket = self.held(queue, place)?;
        self.pending.insert(place, Ticket { handed_on: true, ..ticket });
        Ok(())
    }

    fn held(&self, queue: Queue, place: usize) -> Result<Ticket, FaultKind> {
        let refused = |message: String| Err(FaultKind::Pending(message));
        match self.pending.get(&place) {
            None => refused("nothing gives it".to_owned()),
            Some(ticket) if ticket.handed_on => refused("it has been handed on to another instruction".to_owned()),
            Some(ticket) if ticket.queue != queue => {
                refused(format!("it is on the queue `{}`, not on `{}`", ticket.queue.name(), queue.name()))
            }
            Some(ticket) => Ok(*ticket),
        }
    }

    /// Pending values that a region is entered or left with are pending there, too.
    pub(super) fn copied(&mut self, copies: &[Copied]) {
        if self.pending.is_empty() {
            return;
        }
        let moved: Vec<_> = copies.iter().filter_map(|copy| Some((copy.to, *self.pending.get(&copy.from)?))).collect();
        self.pending.extend(moved);
    }
}

/// Does what is done when an operation has finished.
pub(super) fn land(landing: Landing, memories: &mut Memories<'_>, accessor: &Accessor<'_>) {
    let Some(memory) = memories.shared.get_mut(usize::from(accessor.block)) else { return };
    match landing {
        Landing::WriteGlobal { address, data } => {
            // What it writes was looked for when it was issued.
            let _ = memories.global.store(address, &data);
        }
        Landing::Write { flight, data, lane } => {
            let who = Accessor { lane, ..accessor.clone() };
            memory.land_write(flight, &data, Proxy::Plain, &who);
        }
        Landing::Read { flight } => memory.land_read(flight, accessor),
        Landing::Tensor { flight } => memories.tensor.land(flight, accessor),
    }
}
