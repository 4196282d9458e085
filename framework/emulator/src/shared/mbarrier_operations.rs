//! Operations on mbarriers in shared memory: initialization, arrival, completion of copies, waits, invalidation.

use super::mbarrier::{BYTES, Clock, Copy, Mbarrier, clock_until, join, wrong};
use super::{Accessor, CompletionEffect, Proxy, SEVERAL_LANES, SharedMemory};
use crate::fault::FaultKind;
use tilewright_target::Direction;

impl SharedMemory {
    /// Initializes an mbarrier in the eight bytes at `address`; each phase needs `arrivals` arrivals.
    pub(crate) fn init_mbarrier(&mut self, address: u64, arrivals: u32, who: &Accessor<'_>) -> Result<(), FaultKind> {
        self.store_word(address, BYTES, &[0; BYTES as usize], who)?;
        let fresh = Mbarrier {
            arrivals,
            missing: arrivals,
            bytes: 0,
            phase: 0,
            copies: Vec::new(),
            groups: Vec::new(),
            arrival_clock: Clock::new(),
            released: Clock::new(),
        };
        self.mbarriers.0.insert(address, fresh);
        Ok(())
    }

    /// Returns the mbarrier at an address; its initialization must be ordered before this access.
    fn mbarrier(&mut self, address: u64, who: &Accessor<'_>) -> Result<&mut Mbarrier, FaultKind> {
        let init_write = self.writes.get(address as usize);
        let mbarrier = self.mbarriers.0.get_mut(&address);
        let (Some(init_write), Some(mbarrier)) = (init_write, mbarrier) else {
            return Err(wrong(address, "no mbarrier is initialized here; `mbarrier_init` initializes one"));
        };
        if !who.follows(init_write) {
            return Err(super::race(Direction::Load, address as usize, Direction::Store, init_write, who));
        }
        Ok(mbarrier)
    }

    /// Invalidates the mbarrier; its bytes are uninitialised afterwards. All its arrivals and waits, also waits that
    /// have not ended, must be ordered before this access.
    pub(crate) fn invalidate_mbarrier(&mut self, address: u64, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let mbarrier = self.mbarrier(address, who)?;
        if !mbarrier.copies.is_empty() || !mbarrier.groups.is_empty() {
            return Err(wrong(address, "operations in flight arrive at it; wait for their phase first"));
        }
        self.mbarriers.0.remove(&address);
        self.store_word(address, BYTES, &[0; BYTES as usize], who)?;
        let first = address as usize;
        self.initialised[first..first + BYTES as usize].fill(false);
        Ok(())
    }

    /// Records that `who` arrives at the mbarrier or waits for it: an invalidation of the mbarrier must be ordered
    /// after this use.
    fn note_use(&mut self, address: u64, who: &Accessor<'_>) -> Result<(), FaultKind> {
        self.mbarrier(address, who)?;
        self.note_read(address as usize, who);
        Ok(())
    }

    /// Arrives at the mbarrier, and expects `bytes` more bytes in its current phase; `done` is the clock of the
    /// arriving warp.
    pub(crate) fn arrive(
        &mut self,
        address: u64,
        bytes: u32,
        done: &[u64],
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        self.note_use(address, who)?;
        let mbarrier = self.find_for_arrival(address, who)?;
        mbarrier.missing -= 1;
        mbarrier.bytes += i64::from(bytes);
        join(&mut mbarrier.arrival_clock, done);
        mbarrier.complete();
        Ok(())
    }

    /// Returns the mbarrier if it accepts one more arrival.
    fn find_for_arrival(&mut self, address: u64, who: &Accessor<'_>) -> Result<&mut Mbarrier, FaultKind> {
        let mbarrier = self.mbarrier(address, who)?;
        if mbarrier.missing as usize <= mbarrier.groups.len() {
            return Err(wrong(address, "more arrivals than its count, before its expected bytes have arrived"));
        }
        Ok(mbarrier)
    }

    /// Makes a commit group arrive at the mbarrier when the group completes.
    pub(crate) fn arrive_with(
        &mut self,
        address: u64,
        group: Vec<CompletionEffect>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        self.mbarrier(address, who)?;
        self.check_visible_to(Proxy::Asynchronous, address as usize, who)?;
        self.find_for_arrival(address, who)?.groups.push(group);
        Ok(())
    }

    /// Completes the commit groups that are to arrive in the phase of this parity, if only their arrivals are missing;
    /// returns their completion effects.
    pub(crate) fn finish_groups(
        &mut self,
        address: u64,
        parity: u64,
        who: &Accessor<'_>,
    ) -> Result<Vec<CompletionEffect>, FaultKind> {
        let mbarrier = self.mbarrier(address, who)?;
        let count = mbarrier.groups.len();
        if count == 0 || mbarrier.phase & 1 != parity & 1 || mbarrier.missing as usize != count {
            return Ok(Vec::new());
        }
        mbarrier.missing = 0;
        join(&mut mbarrier.arrival_clock, &clock_until(who.warp, who.time + 1));
        Ok(std::mem::take(&mut mbarrier.groups).into_iter().flatten().collect())
    }

    /// Makes the asynchronous write of `data` with the number `access_id` complete on the mbarrier at `address`, in its
    /// current phase.
    pub(crate) fn complete_on(
        &mut self,
        address: u64,
        access_id: u64,
        data: Vec<u8>,
        proxy: Proxy,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        self.mbarrier(address, who)?;
        self.check_visible_to(proxy, address as usize, who)?;
        self.mbarrier(address, who)?.copies.push(Copy { access_id, data, proxy });
        Ok(())
    }

    /// Returns the clock of all accesses that the completed phase of this parity orders; `None` if that phase is
    /// incomplete.
    pub(crate) fn wait(&mut self, address: u64, parity: u64, who: &Accessor<'_>) -> Result<Option<Clock>, FaultKind> {
        self.note_use(address, who)?;
        let mbarrier = self.mbarrier(address, who)?;
        if mbarrier.phase & 1 == parity & 1 && mbarrier.missing == 0 {
            self.complete_copies(address, who)?;
        }
        let mbarrier = self.mbarrier(address, who)?;
        Ok((mbarrier.phase & 1 != parity & 1).then(|| mbarrier.released.clone()))
    }

    /// Completes the copies of the mbarrier's current phase if the phase needs no more arrivals.
    fn complete_copies(&mut self, address: u64, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let copies = std::mem::take(&mut self.mbarrier(address, who)?.copies);
        let lander = Accessor { lane: SEVERAL_LANES, ..who.clone() };
        let mut come = 0;
        for copy in copies {
            come += copy.data.len() as i64;
            self.complete_write(copy.access_id, &copy.data, copy.proxy, &lander);
        }
        let mbarrier = self.mbarrier(address, who)?;
        mbarrier.bytes -= come;
        join(&mut mbarrier.arrival_clock, &clock_until(who.warp, who.time + 1));
        mbarrier.complete();
        Ok(())
    }

    /// Returns the numbers of arrivals and of bytes that the current phase still needs.
    pub(crate) fn missing_arrivals_and_bytes(&self, address: u64) -> (u32, i64) {
        self.mbarriers.0.get(&address).map_or((0, 0), |mbarrier| (mbarrier.missing, mbarrier.bytes))
    }
}
