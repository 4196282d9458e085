//! Which loads of a loop go ahead, in how many stages.

use super::how::{How, Question};
use super::lines::{LoadLine, PipelinedLoopLine, named};
use crate::LaunchConfig;
use crate::synthesis::often::known_trips;
use crate::synthesis::place::memory_name;
use tilewright_tile::transform::loads::{
    LoadLoop, PipelinedLoop, PrefetchPath, PrefetchableLoad, PrefetchedLoad, REGISTER_BUFFERS,
};

/// What a block may still take.
pub(super) struct Room {
    /// Bytes of shared memory.
    bytes: u64,
    /// 32-bit registers of a lane beside those of the program.
    registers: u64,
}

impl Room {
    /// That of a block of a program whose tensors need so many registers.
    pub fn of(machine: &LaunchConfig<'_>, live: u64) -> Self {
        let limits = &machine.context.target.limits;
        let lanes = u64::from(machine.lanes * machine.warps).max(1);
        let most = u64::from(limits.registers_per_lane).min(u64::from(limits.registers_per_block) / lanes);
        Self { bytes: u64::from(machine.context.target.shared.bytes), registers: most.saturating_sub(live) }
    }
}

/// What becomes of a loop.
pub(super) struct Chosen {
    pub staged: PipelinedLoop,
    pub line: PipelinedLoopLine,
}

impl Question<'_> {
    /// The loads of a loop that go ahead, in at most so many stages.
    pub fn chosen(&self, of: &LoadLoop, required: u32, room: &mut Room) -> Chosen {
        let body = self.body;
        let mut line =
            PipelinedLoopLine { name: named(body, of.op), stages: 1, bytes: 0, loads: Vec::new(), note: None };
        let mut staged = PipelinedLoop { op: of.op, stages: 1, loads: Vec::new() };
        line.loads.extend(of.left.iter().map(|(load, reason)| LoadLine::left(body, *load, reason.clone())));
        let stays = |line: &mut PipelinedLoopLine, load: &PrefetchableLoad, reason: &str| {
            line.loads.push(LoadLine::left(body, load.op, reason.to_owned()));
        };
        let iterations = known_trips(body, self.facts, of.op);
        let most = u32::try_from(iterations.unwrap_or(u64::MAX)).unwrap_or(u32::MAX).min(required);
        if most < 2 {
            let reason = if required < 2 { "one stage is wanted" } else { "the loop has one turn at most" };
            of.loads.iter().for_each(|load| stays(&mut line, load, reason));
            return Chosen { staged, line };
        }
        let mut found: Vec<(PrefetchableLoad, How)> = Vec::new();
        for load in &of.loads {
            match self.how(load, true) {
                Ok(how) => found.push((load.clone(), how)),
                Err(reason) => stays(&mut line, load, &reason),
            }
        }
        found.retain(|(load, how)| {
            let fits = how.registers <= room.registers;
            match fits {
                true => room.registers -= how.registers,
                false => stays(&mut line, load, "there are no registers for it while the turn goes on"),
            }
            fits
        });
        let stages = (2..=most).rev().find(|stages| taken(&found, *stages) <= room.bytes);
        let Some(stages) = stages.filter(|_| !found.is_empty()) else {
            let bytes = taken(&found, 2);
            let reason = format!("two buffers of each take {bytes} bytes of shared memory, {} are left", room.bytes);
            found.iter().for_each(|(load, _)| stays(&mut line, load, &reason));
            return Chosen { staged, line };
        };
        line.note =
            (stages < required && found.iter().any(|(_, how)| how.path == PrefetchPath::Copy)).then(
                || match iterations {
                    Some(iterations) if u64::from(stages) == iterations => format!("the loop has {iterations} turns"),
                    _ => format!(
                        "{required} stages take {} bytes of shared memory, {} are left",
                        taken(&found, required),
                        room.bytes
                    ),
                },
            );
        (line.bytes, line.stages, staged.stages) = (taken(&found, stages), stages, stages);
        if found.iter().all(|(_, how)| how.path == PrefetchPath::Registers) {
            line.stages = REGISTER_BUFFERS;
        }
        room.bytes -= line.bytes;
        for (load, how) in found {
            let memory = memory_name(&how.solution.memory);
            line.loads.push(LoadLine::ahead(body, &load, &how, memory.text()));
            staged.loads.push(PrefetchedLoad { load, path: how.path, memory });
        }
        Chosen { staged, line }
    }
}

/// Bytes of shared memory that all buffers take.
fn taken(found: &[(PrefetchableLoad, How)], stages: u32) -> u64 {
    let of = |how: &How| match how.path {
        PrefetchPath::Copy => how.bytes * u64::from(stages),
        PrefetchPath::Registers => how.bytes * u64::from(REGISTER_BUFFERS),
    };
    found.iter().map(|(_, how)| of(how)).sum()
}
