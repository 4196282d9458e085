//! Branches and loops: which lanes go where.

use super::{Done, Frame, Warp};
use crate::fault::{FaultKind, LaneFault};
use crate::program::{Bounds, Copied, Step};

impl Warp {
    pub(super) fn control(&mut self, step: &Step<'_>) -> Done {
        match step {
            Step::Branch { condition, otherwise } => self.branch(*condition, *otherwise),
            Step::Otherwise { copies, end } => {
                self.copy(copies);
                self.otherwise(*end);
            }
            Step::Join { copies } => {
                self.copy(copies);
                if let Some(Frame::If { outer, parted, .. }) = self.frames.pop() {
                    self.active = outer;
                    if parted {
                        self.parted.pop();
                    }
                }
            }
            Step::Enter { bounds, from, copies, end } => {
                self.copy(copies);
                return self.enter(*bounds, *from, *end);
            }
            Step::EnterWhile { copies } => {
                self.copy(copies);
                self.frames.push(Frame::Loop { outer: self.active });
            }
            Step::RepeatWhile { condition, copies, body } => {
                // The condition may lie in an argument, which the copies overwrite.
                let again = self.lanes_where(|registers, lane| registers[condition + lane] != 0);
                self.copy(copies);
                if self.leave(again) {
                    self.next = *body;
                }
            }
            Step::Repeat { bounds, copies, body } => {
                self.copy(copies);
                return self.repeat(*bounds, *body);
            }
            _ => {}
        }
        Ok(())
    }

    /// A bit for every active lane for which the test of its registers holds.
    fn lanes_where(&self, holds: impl Fn(&[u64], usize) -> bool) -> u64 {
        let set = |lane: usize| u64::from(holds(&self.registers, lane)) << lane;
        (0..self.lanes).fold(0, |mask, lane| mask | set(lane)) & self.active
    }

    fn branch(&mut self, condition: usize, otherwise: usize) {
        let then = self.lanes_where(|registers, lane| registers[condition + lane] != 0);
        let others = self.active & !then;
        self.frames.push(Frame::If { outer: self.active, otherwise: others, began: self.time, parted: false });
        if then == 0 {
            self.active = others;
            self.next = otherwise;
        } else {
            self.active = then;
        }
    }

    fn otherwise(&mut self, end: usize) {
        let Some(Frame::If { outer, otherwise, began, parted }) = self.frames.last_mut() else { return };
        if *otherwise == 0 {
            self.active = *outer;
            self.frames.pop();
            self.next = end;
        } else {
            *parted = true;
            self.active = *otherwise;
            self.parted.push(*began..self.time);
        }
    }

    fn enter(&mut self, bounds: Bounds, from: usize, end: usize) -> Done {
        self.copy(&[Copied { from, to: bounds.index, n: self.lanes }]);
        if self.lanes_where(|registers, lane| registers[bounds.step + lane] == 0) != 0 {
            return Err(FaultKind::LoopStep.into());
        }
        self.frames.push(Frame::Loop { outer: self.active });
        if !self.narrow(bounds) {
            self.next = end;
        }
        Ok(())
    }

    fn repeat(&mut self, bounds: Bounds, body: usize) -> Done {
        for lane in (0..self.lanes).filter(|lane| self.active >> lane & 1 == 1) {
            let (index, step) = (self.registers[bounds.index + lane], self.registers[bounds.step + lane]);
            if index + step > u64::from(u32::MAX) {
                return Err(LaneFault { lane: Some(lane as u32), kind: FaultKind::LoopIndex { index, step } });
            }
            self.registers[bounds.index + lane] = index + step;
        }
        if self.narrow(bounds) {
            self.next = body;
        }
        Ok(())
    }

    /// Leaves the lanes active that have another turn; where there is none, the loop is left.
    fn narrow(&mut self, bounds: Bounds) -> bool {
        let iteration =
            self.lanes_where(|registers, lane| registers[bounds.index + lane] < registers[bounds.to + lane]);
        self.leave(iteration)
    }

    /// Leaves those lanes active; where there is none, the loop is left.
    fn leave(&mut self, iteration: u64) -> bool {
        self.active = iteration;
        if iteration == 0
            && let Some(Frame::Loop { outer }) = self.frames.pop()
        {
            self.active = outer;
        }
        iteration != 0
    }

    /// Copies registers of the active lanes, all at once.
    fn copy(&mut self, copies: &[Copied]) {
        self.queues.copied(copies);
        self.scratch.clear();
        for copied in copies {
            self.scratch.extend_from_slice(&self.registers[copied.from..copied.from + copied.n]);
        }
        let mut values = self.scratch.iter();
        for copied in copies {
            let to = &mut self.registers[copied.to..copied.to + copied.n];
            for (register, (to, value)) in to.iter_mut().zip(&mut values).enumerate() {
                if self.active >> (register % self.lanes) & 1 == 1 {
                    *to = *value;
                }
            }
        }
    }
}
