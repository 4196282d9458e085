//! Operations on mbarriers in shared memory: initialization, arrival, completion of copies, waits.

use super::mbarrier::{BYTES, Clock, Copy, Mbarrier, join, until, wrong};
use super::{Accessor, Landing, Proxy, SEVERAL_LANES, SharedMemory};
use crate::fault::FaultKind;
use tilewright_target::Direction;

impl SharedMemory {
    /// Makes eight bytes an mbarrier.
    pub(crate) fn init_mbarrier(&mut self, address: u64, arrivals: u32, who: &Accessor<'_>) -> Result<(), FaultKind> {
        self.store_word(address, BYTES, &[0; BYTES as usize], who)?;
        let fresh = Mbarrier {
            arrivals,
            missing: arrivals,
            bytes: 0,
            phase: 0,
            copies: Vec::new(),
            groups: Vec::new(),
            arrived: Clock::new(),
            released: Clock::new(),
        };
        self.mbarriers.0.insert(address, fresh);
        Ok(())
    }

    /// The mbarrier at an address, made by what comes before this access.
    fn mbarrier(&mut self, address: u64, who: &Accessor<'_>) -> Result<&mut Mbarrier, FaultKind> {
        let made = self.writes.get(address as usize);
        let mbarrier = self.mbarriers.0.get_mut(&address);
        let (Some(made), Some(mbarrier)) = (made, mbarrier) else {
            return Err(wrong(address, "there is none; mbarrier_init makes one"));
        };
        if !who.follows(made) {
            return Err(super::race(Direction::Load, address as usize, Direction::Store, made, who));
        }
        Ok(mbarrier)
    }

    /// Arrives; `done` says what is done by then.
    pub(crate) fn arrive(
        &mut self,
        address: u64,
        bytes: u32,
        done: &[u64],
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let mbarrier = self.arriving(address, who)?;
        mbarrier.missing -= 1;
        mbarrier.bytes += i64::from(bytes);
        join(&mut mbarrier.arrived, done);
        mbarrier.complete();
        Ok(())
    }

    /// The mbarrier at which one more arrives.
    fn arriving(&mut self, address: u64, who: &Accessor<'_>) -> Result<&mut Mbarrier, FaultKind> {
        let mbarrier = self.mbarrier(address, who)?;
        if mbarrier.missing as usize <= mbarrier.groups.len() {
            return Err(wrong(address, "more arrive than it was made for, before its bytes have come"));
        }
        Ok(mbarrier)
    }

    /// Lets a group arrive when it has finished.
    pub(crate) fn arrive_with(
        &mut self,
        address: u64,
        group: Vec<Landing>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        self.mbarrier(address, who)?;
        self.seen_by(Proxy::Asynchronous, address as usize, who)?;
        self.arriving(address, who)?.groups.push(group);
        Ok(())
    }

    /// Completes the commit groups that the phase of this parity waits for, if no other arrival is pending.
    pub(crate) fn finish_groups(
        &mut self,
        address: u64,
        parity: u64,
        who: &Accessor<'_>,
    ) -> Result<Vec<Landing>, FaultKind> {
        let mbarrier = self.mbarrier(address, who)?;
        let count = mbarrier.groups.len();
        if count == 0 || mbarrier.phase & 1 != parity & 1 || mbarrier.missing as usize != count {
            return Ok(Vec::new());
        }
        mbarrier.missing = 0;
        join(&mut mbarrier.arrived, &until(who.warp, who.time + 1));
        Ok(std::mem::take(&mut mbarrier.groups).into_iter().flatten().collect())
    }

    /// Lets an asynchronous write complete on an mbarrier.
    pub(crate) fn complete_on(
        &mut self,
        address: u64,
        flight: u64,
        data: Vec<u8>,
        proxy: Proxy,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        self.mbarrier(address, who)?;
        self.seen_by(proxy, address as usize, who)?;
        self.mbarrier(address, who)?.copies.push(Copy { flight, data, proxy });
        Ok(())
    }

    /// The clock of all that the phase of this parity orders before its completion; `None` if the phase is incomplete.
    pub(crate) fn wait(&mut self, address: u64, parity: u64, who: &Accessor<'_>) -> Result<Option<Clock>, FaultKind> {
        let mbarrier = self.mbarrier(address, who)?;
        if mbarrier.phase & 1 == parity & 1 && mbarrier.missing == 0 {
            self.land_copies(address, who)?;
        }
        let mbarrier = self.mbarrier(address, who)?;
        Ok((mbarrier.phase & 1 != parity & 1).then(|| mbarrier.released.clone()))
    }

    /// Lands the copies of a phase at which all have arrived.
    fn land_copies(&mut self, address: u64, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let copies = std::mem::take(&mut self.mbarrier(address, who)?.copies);
        let lander = Accessor { lane: SEVERAL_LANES, ..who.clone() };
        let mut come = 0;
        for copy in copies {
            come += copy.data.len() as i64;
            self.land_write(copy.flight, &copy.data, copy.proxy, &lander);
        }
        let mbarrier = self.mbarrier(address, who)?;
        mbarrier.bytes -= come;
        join(&mut mbarrier.arrived, &until(who.warp, who.time + 1));
        mbarrier.complete();
        Ok(())
    }

    /// The arrivals and bytes that the current phase of an mbarrier still waits for.
    pub(crate) fn lacks(&self, address: u64) -> (u32, i64) {
        self.mbarriers.0.get(&address).map_or((0, 0), |mbarrier| (mbarrier.missing, mbarrier.bytes))
    }
}
