//! Shuffles between the lanes of a warp.

use super::compute::pairs;
use super::{Done, Warp};
use crate::fault::{FaultKind, LaneFault};

impl Warp {
    pub(super) fn shuffle(&mut self, value: usize, lane: usize, to: usize) -> Done {
        self.require_all_lanes()?;
        self.counts.shuffles += 1;
        let lanes = self.lanes;
        let (values, sources, results) = pairs(&mut self.registers, value, lane, to, lanes);
        for (reader, (result, &from)) in results.iter_mut().zip(sources).enumerate() {
            let source = usize::try_from(from).ok().and_then(|from| values.get(from));
            let kind = || FaultKind::ShuffleLane { from, lanes: lanes as u32 };
            *result = *source.ok_or_else(|| LaneFault { lane: Some(reader as u32), kind: kind() })?;
        }
        Ok(())
    }

    pub(super) fn shuffle_xor(&mut self, value: usize, mask: usize, to: usize) -> Done {
        self.require_all_lanes()?;
        self.counts.shuffles += 1;
        self.counts.shuffles_xor += 1;
        for lane in 0..self.lanes {
            self.registers[to + lane] = self.registers[value + (lane ^ mask)];
        }
        Ok(())
    }

    pub(super) fn swap(&mut self, from: [usize; 2], bit: usize, to: [usize; 2]) -> Done {
        self.require_all_lanes()?;
        self.counts.shuffles += 1;
        self.counts.swaps += 1;
        for lane in 0..self.lanes {
            // Lanes with the bit set exchange `a` and keep `b`; the others exchange `b` and keep `a`.
            let (traded, kept) = if lane & bit == 0 { (1, 0) } else { (0, 1) };
            self.registers[to[traded] + lane] = self.registers[from[kept] + (lane ^ bit)];
            self.registers[to[kept] + lane] = self.registers[from[kept] + lane];
        }
        Ok(())
    }
}
