//! What became of loops, for people.

use std::fmt;
use tilewright_tile::op::name::scf;

use super::how::How;
use tilewright_tile::transform::loads::{BufferReader, PrefetchPath, PrefetchableLoad};
use tilewright_tile::{Body, Op, Value};

/// A loop that loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelinedLoopLine {
    /// The name of its first result.
    pub name: String,
    /// Buffers of what copies bring; two where all goes by registers, one where nothing goes ahead.
    pub stages: u32,
    /// Bytes of shared memory of all buffers.
    pub bytes: u64,
    /// Its loads.
    pub loads: Vec<LoadLine>,
    /// Why there are not as many stages as wanted.
    pub note: Option<String>,
}

/// A load of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadLine {
    /// The name of its value.
    pub value: String,
    /// How it goes ahead: by which instruction, and what reads it by which; none where it does not.
    pub by: Option<String>,
    /// The layout of a buffer.
    pub memory: Option<String>,
    /// Bytes of a buffer.
    pub bytes: u64,
    /// Wavefronts of a warp for which it waits beyond what its accesses take at least, in a turn.
    pub conflicts: u64,
    /// Why it stays where it is.
    pub reason: Option<String>,
}

impl LoadLine {
    pub(super) fn left(body: &Body, load: Op, reason: String) -> Self {
        let value = body.op(load).results.first().map_or_else(String::new, |value| body.display_name(*value));
        Self { value, by: None, memory: None, bytes: 0, conflicts: 0, reason: Some(reason) }
    }

    pub(super) fn ahead(body: &Body, load: &PrefetchableLoad, how: &How, memory: &str) -> Self {
        let served = |number: usize| {
            how.solution.served.get(number).map_or_else(String::new, |served| {
                served.instruction.clone().unwrap_or_else(|| format!("accesses of {} bytes", served.bytes))
            })
        };
        let filled = match how.path {
            PrefetchPath::Copy => format!("copied by {}", served(0)),
            PrefetchPath::Registers => format!("by registers, stored by {}", served(0)),
        };
        let value = body.op(load.op).results.first().map_or_else(String::new, |value| body.display_name(*value));
        Self {
            value,
            by: Some(format!("{filled}, read by {}", served(1))),
            memory: Some(memory.to_owned()),
            bytes: how.bytes,
            conflicts: how.solution.conflicts(),
            reason: None,
        }
    }
}

pub(super) fn named(body: &Body, op: Op) -> String {
    body.op(op).results.first().map_or_else(|| scf::FOR.to_owned(), |value| body.display_name(*value))
}

/// The conversion that a load makes needless: its value, and the layouts from and to which it was brought.
pub(super) fn conversion(body: &Body, load: &PrefetchableLoad) -> Option<(String, String, String)> {
    let BufferReader::Conversion(_) = load.reader else { return None };
    let layout = |value: Value| body.ty(value).layout().map(|layout| layout.text().to_owned());
    Some((body.display_name(load.stored), layout(load.stored)?, layout(load.required)?))
}

impl fmt::Display for PipelinedLoopLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "    {}: ", self.name)?;
        match self.stages {
            1 => writeln!(f, "nothing goes ahead")?,
            stages => writeln!(f, "{stages} stages, {} bytes of shared memory", self.bytes)?,
        }
        if let Some(note) = &self.note {
            writeln!(f, "      no more stages: {note}")?;
        }
        for load in &self.loads {
            match (&load.by, &load.memory, &load.reason) {
                (Some(by), Some(memory), _) => {
                    writeln!(
                        f,
                        "      {} ahead: {by}; {} bytes, {} conflicts of banks",
                        load.value, load.bytes, load.conflicts
                    )?;
                    writeln!(f, "        {memory}")?;
                }
                (_, _, reason) => writeln!(f, "      {} stays: {}", load.value, reason.as_deref().unwrap_or_default())?,
            }
        }
        Ok(())
    }
}
