//! What a plan may use.

use tilewright_target::{Instruction, TargetDescription};

/// A target and the share of it that a plan may use.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext<'a> {
    /// The target.
    pub target: &'a TargetDescription,
    /// Rows of its instruction table; those that move data between registers and shared memory are
    /// used.
    pub instructions: &'a [Instruction],
    /// Bytes of shared memory at most.
    pub scratch_bytes: u64,
    /// What issuing and addressing an access of shared memory counts beside its wavefronts, in slots.
    pub access_slots: f64,
}

impl<'a> PlanContext<'a> {
    /// All that the target gives to a block without being asked at launch; no instructions.
    #[must_use]
    pub fn of(target: &'a TargetDescription) -> Self {
        Self { target, instructions: &[], scratch_bytes: u64::from(target.shared.static_bytes), access_slots: 0.0 }
    }

    /// As before, with an instruction table.
    #[must_use]
    pub fn with_instructions(self, instructions: &'a [Instruction]) -> Self {
        Self { instructions, ..self }
    }

    /// As before, but each access of shared memory counts so many slots more, so that fewer and wider ones
    /// are chosen where they cost a little more.
    pub(crate) fn with_access_slots(self, slots: f64) -> Self {
        Self { access_slots: slots, ..self }
    }

    /// As before, for each of so many movements of one block that have shared memory of their own.
    pub(super) fn shared_by(self, movements: usize) -> Self {
        self.with_scratch(self.scratch_bytes / movements.max(1) as u64)
    }

    /// As before, but with no more than so many bytes of shared memory.
    #[must_use]
    pub fn with_scratch(self, bytes: u64) -> Self {
        Self { scratch_bytes: self.scratch_bytes.min(bytes), ..self }
    }
}

impl<'a> From<&'a TargetDescription> for PlanContext<'a> {
    fn from(target: &'a TargetDescription) -> Self {
        Self::of(target)
    }
}
