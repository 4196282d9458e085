//! The registers of a block whose warpgroups hand registers over (`setmaxnreg`): what each thread has, and the pool of
//! released ones.

use super::warp::{Warp, WarpState};

/// Number of warps of a warpgroup.
const GROUP: usize = 4;

/// The registers of a block.
pub(super) struct RegisterPool {
    /// For each warp, the number of registers of a thread; `None` if the kernel does not state those of the launch.
    of_warps: Option<Vec<u32>>,
    /// Number of registers that warpgroups have released and none has acquired, for one thread of each warp.
    free: u32,
}

impl RegisterPool {
    /// Creates the registers of a block of `warps` warps, with these registers of a thread at the launch.
    pub(super) fn new(warps: usize, launch: Option<u32>) -> Self {
        Self { of_warps: launch.map(|registers| vec![registers; warps]), free: 0 }
    }

    /// Changes the registers of each warpgroup whose warps all execute the same change, if the pool has enough, and
    /// continues its warps. Returns whether any changed.
    ///
    /// # Errors
    /// The index of a warp and the reason, if its change is invalid.
    pub(super) fn change(&mut self, warps: &mut [Warp]) -> Result<bool, (u32, String)> {
        let mut any = false;
        for (group, warps) in warps.chunks_mut(GROUP).enumerate() {
            let WarpState::ChangesRegisters(change) = warps[0].standing else { continue };
            if warps.iter().any(|warp| warp.standing != WarpState::ChangesRegisters(change)) {
                continue;
            }
            let first = group * GROUP;
            let fail = |message: String| Err((first as u32, message));
            if warps.len() < GROUP {
                return fail(format!("the last warpgroup has {} warps; expected {GROUP}", warps.len()));
            }
            let Some(of_warps) = &mut self.of_warps else {
                return fail("the kernel does not state the registers of its launch: expected `.maxnreg`".to_owned());
            };
            let (from, to) = (of_warps[first], change.registers);
            let is_valid = if change.acquires { to >= from } else { to <= from };
            if !is_valid {
                let wish = if change.acquires { "more" } else { "fewer" };
                return fail(format!("a change from {from} to {to} registers of a thread; expected {wish}"));
            }
            let available = self.free + from * GROUP as u32;
            let Some(free) = available.checked_sub(to * GROUP as u32) else { continue };
            self.free = free;
            of_warps[first..first + GROUP].fill(to);
            warps.iter_mut().for_each(|warp| warp.standing = WarpState::Runs);
            any = true;
        }
        Ok(any)
    }
}
