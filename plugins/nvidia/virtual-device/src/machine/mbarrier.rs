//! Mbarrier operations. A phase of an mbarrier completes when its last arrival and its last expected byte have come.
//! Source: PTX ISA, "mbarrier".

use super::in_flight::Mbarrier;
use super::{DeviceFaultKind, Running};

/// Maximum number of arrivals for which an mbarrier can be initialized.
const MOST: u32 = (1 << 20) - 1;

impl Running<'_> {
    pub(crate) fn mbarrier_init(&mut self, lane: usize, address: u64, arrivals: u32) -> Result<(), DeviceFaultKind> {
        let wrong = |message: &str| DeviceFaultKind::Mbarrier { address, message: message.to_owned() };
        if !(1..=MOST).contains(&arrivals) {
            return Err(wrong("it counts 1 to 1048575 arrivals"));
        }
        if !address.is_multiple_of(8) {
            return Err(wrong("its address is not a multiple of 8"));
        }
        if self.shared.mbarriers.contains_key(&address) {
            return Err(wrong("it is initialized twice; `mbarrier.inval` invalidates it"));
        }
        let who = self.accessor(lane);
        self.shared.reserve(address, true, &who)?;
        let fresh = Mbarrier { expected: arrivals, pending: arrivals, bytes: 0, phase: 0 };
        self.shared.mbarriers.insert(address, fresh);
        self.shared.record_partial_barrier();
        Ok(())
    }

    pub(crate) fn mbarrier_end(&mut self, lane: usize, address: u64) -> Result<(), DeviceFaultKind> {
        self.mbarrier(address)?;
        self.shared.mbarriers.remove(&address);
        let who = self.accessor(lane);
        self.shared.reserve(address, false, &who)
    }

    pub(super) fn mbarrier(&mut self, address: u64) -> Result<&mut Mbarrier, DeviceFaultKind> {
        let missing = || DeviceFaultKind::Mbarrier { address, message: "it is not initialized".to_owned() };
        self.shared.mbarriers.get_mut(&address).ok_or_else(missing)
    }

    /// Adds `bytes` to the bytes that the current phase expects, then arrives `arrivals` times. Returns the number of
    /// the phase before the arrivals.
    pub(crate) fn mbarrier_arrive(&mut self, address: u64, arrivals: u32, bytes: u32) -> Result<u64, DeviceFaultKind> {
        let barrier = self.mbarrier(address)?;
        let phase = barrier.phase;
        let Some(pending) = barrier.pending.checked_sub(arrivals) else {
            let message = format!("{arrivals} arrive where {} are missing", barrier.pending);
            return Err(DeviceFaultKind::Mbarrier { address, message });
        };
        barrier.bytes += i64::from(bytes);
        barrier.pending = pending;
        barrier.settle();
        self.counts.mbarrier_arrivals += u64::from(arrivals > 0);
        Ok(phase)
    }

    /// Subtracts bytes that a bulk copy has written from the expected bytes of the mbarrier's current phase.
    pub(super) fn mbarrier_bytes_arrive(&mut self, address: u64, bytes: u64) -> Result<(), DeviceFaultKind> {
        let barrier = self.mbarrier(address)?;
        barrier.bytes -= bytes.cast_signed();
        barrier.settle();
        Ok(())
    }

    /// Whether a phase has completed. `phase` is the number of the phase, or with `by_parity` its parity. Before the
    /// test, bulk copies that arrive at the mbarrier complete one after another as needed.
    pub(crate) fn mbarrier_is_past(
        &mut self,
        lane: usize,
        address: u64,
        phase: u64,
        by_parity: bool,
    ) -> Result<bool, DeviceFaultKind> {
        loop {
            let current = self.mbarrier(address)?.phase;
            // The phase with the other parity than the current phase is the previous one, which has completed.
            let is_past = if by_parity { current & 1 != phase & 1 } else { current > phase };
            if is_past || !self.bulk_arrive(address, lane)? {
                return Ok(is_past);
            }
        }
    }
}
