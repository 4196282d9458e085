//! Vendor instructions, synchronous or on a queue.

use super::{BlockContext, Done, Warp, accessor, memories};
use crate::fault::FaultKind;
use crate::program::Instruction;
use crate::semantics::InstructionCall;

impl Warp {
    pub(super) fn instruction(
        &mut self,
        instruction: &Instruction<'_>,
        around: &mut BlockContext<'_>,
        at: usize,
    ) -> Done {
        self.require_all_lanes()?;
        let semantics = around.semantics.and_then(|semantics| semantics.get(instruction.name));
        let semantics = semantics.ok_or_else(|| FaultKind::UnknownInstruction { name: instruction.name.to_owned() })?;
        for &(at, ty) in &instruction.results {
            self.registers[at..at + ty.element_count() as usize * self.lanes].fill(0);
        }
        let time = self.next_time();
        let accessor = accessor(self.index, (time, self.barrier), (&self.parted, &self.known), around, at);
        let target = around.target;
        let mut call = InstructionCall {
            instruction,
            lanes: self.lanes,
            registers: &mut self.registers,
            target,
            memories: memories(around),
            counts: &mut self.counts,
            accessor,
            queue: None,
            mbarrier: None,
            together: 1,
            landings: Vec::new(),
        };
        semantics.execute(&mut call)?;
        let (queue, landings) = (call.queue, call.landings);
        if call.together > 1 {
            self.issued_together.push((call.together, at));
        }
        let pending_registers = |values: &[(usize, tilewright_kernel::Type)]| -> Vec<usize> {
            values.iter().filter(|(_, ty)| ty.is_pending()).map(|&(register, _)| register).collect()
        };
        let (taken, given) = (pending_registers(&instruction.operands), pending_registers(&instruction.results));
        let Some(queue) = queue else {
            return match taken.is_empty() && given.is_empty() {
                true => Ok(()),
                false => Err(FaultKind::Pending("the instruction is on no queue".to_owned()).into()),
            };
        };
        taken.iter().try_for_each(|&register| self.queues.consume(queue, register))?;
        self.queues.issue(queue, landings, &given);
        Ok(())
    }
}
