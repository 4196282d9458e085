//! Branches and loops: selection of the active lanes.

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
                if let Some(Frame::If { outer, parted, .. }) = self.control_stack.pop() {
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
                self.control_stack.push(Frame::Loop { outer: self.active });
            }
            Step::RepeatWhile { condition, copies, body } => {
                // The condition is read first: it may be one of the loop's arguments, which the copies overwrite.
                let looping = self.lanes_where(|registers, lane| registers[condition + lane] != 0);
                self.copy(copies);
                if self.leave(looping) {
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

    /// Returns the mask of the active lanes for which `holds(registers, lane)` is true.
    fn lanes_where(&self, holds: impl Fn(&[u64], usize) -> bool) -> u64 {
        let set = |lane: usize| u64::from(holds(&self.registers, lane)) << lane;
        (0..self.lanes).fold(0, |mask, lane| mask | set(lane)) & self.active
    }

    fn branch(&mut self, condition: usize, otherwise: usize) {
        let then = self.lanes_where(|registers, lane| registers[condition + lane] != 0);
        let others = self.active & !then;
        self.control_stack.push(Frame::If { outer: self.active, otherwise: others, began: self.time, parted: false });
        if then == 0 {
            self.active = others;
            self.next = otherwise;
        } else {
            self.active = then;
        }
    }

    fn otherwise(&mut self, end: usize) {
        let Some(Frame::If { outer, otherwise, began, parted }) = self.control_stack.last_mut() else { return };
        if *otherwise == 0 {
            self.active = *outer;
            self.control_stack.pop();
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
        self.control_stack.push(Frame::Loop { outer: self.active });
        if !self.start_iteration(bounds) {
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
        if self.start_iteration(bounds) {
            self.next = body;
        }
        Ok(())
    }

    /// Keeps the lanes active that have another iteration, and returns whether there are any; leaves the loop if there
    /// are none.
    fn start_iteration(&mut self, bounds: Bounds) -> bool {
        let iteration =
            self.lanes_where(|registers, lane| registers[bounds.index + lane] < registers[bounds.to + lane]);
        self.leave(iteration)
    }

    /// Keeps the lanes of the mask `iteration` active, and returns whether there are any; leaves the loop if there are
    /// none.
    fn leave(&mut self, iteration: u64) -> bool {
        self.active = iteration;
        if iteration == 0
            && let Some(Frame::Loop { outer }) = self.control_stack.pop()
        {
            self.active = outer;
        }
        iteration != 0
    }

    /// Executes copies of registers in the active lanes: reads all of them before it writes any.
    fn copy(&mut self, copies: &[Copied]) {
        self.queues.copy_pending(copies);
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
