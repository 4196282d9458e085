//! Steps of assertions, prints and assumed uniformity.

use super::{BlockContext, Done, Warp};
use crate::fault::{FaultKind, LaneFault};
use crate::print::{LanePrintRecord, written};
use crate::program::Print;

impl Warp {
    /// Copies a value that the kernel assumes to be equal in all active lanes; a fault if it is not.
    pub(super) fn assume_uniform(&mut self, value: usize, to: usize, n: usize) -> Done {
        let active = || (0..self.lanes).filter(|lane| self.active >> lane & 1 == 1);
        if let Some(first) = active().next() {
            let differs = |lane: &usize| {
                (0..n)
                    .step_by(self.lanes)
                    .any(|register| self.registers[value + register + lane] != self.registers[value + register + first])
            };
            if let Some(other) = active().find(differs) {
                return Err(FaultKind::NotSame { lane: first as u32, other: other as u32 }.into());
            }
        }
        self.registers.copy_within(value..value + n, to);
        Ok(())
    }

    /// Checks the condition in every active lane whose predicate is true, or in every active lane without a predicate;
    /// a fault with `message` if it is false in one of them.
    pub(super) fn assert(&self, condition: usize, predicate: Option<usize>, message: &str) -> Done {
        let checks = |lane: &usize| {
            let taken = predicate.is_none_or(|predicate| self.registers[predicate + lane] != 0);
            self.active >> lane & 1 == 1 && taken
        };
        match (0..self.lanes).filter(checks).find(|lane| self.registers[condition + lane] == 0) {
            None => Ok(()),
            Some(lane) => {
                let kind = FaultKind::Assertion { message: message.to_owned() };
                Err(LaneFault { lane: Some(lane as u32), kind })
            }
        }
    }

    /// Prints the values of every active lane.
    pub(super) fn print(&self, print: &Print<'_>, around: &BlockContext<'_>) {
        let Some(printer) = around.printer else { return };
        for lane in (0..self.lanes).filter(|lane| self.active >> lane & 1 == 1) {
            let values = print.values.iter().map(|&(at, ty)| {
                let elements =
                    (0..ty.element_count() as usize).map(|element| self.registers[at + element * self.lanes + lane]);
                written(ty, print.hex, elements)
            });
            printer(LanePrintRecord {
                block: around.position.block,
                warp: self.index,
                lane: lane as u32,
                prefix: print.prefix.to_owned(),
                values: values.collect(),
                index: print
                    .index
                    .as_ref()
                    .map(|index| index.iter().map(|&at| self.registers[at + lane] as u32).collect()),
            });
        }
    }
}
