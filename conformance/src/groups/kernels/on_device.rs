//! Whole programs on a device.

use tilewright::ProgramOptions;
use tilewright_verify::Trial;

use super::super::emulated::either;
use super::super::executed::trials_on_device;
use super::source::Source;
use super::{refused, with_program};
use crate::{Context, Level, Verdict};

/// Compiles the program, runs its code on the device over the whole grid, and compares every buffer.
pub(super) fn shown(context: &Context, source: &Source) -> Verdict {
    either(trials(context, source).and_then(|trials| trials_on_device(context, trials)))
}

/// The program's kernel with what the case gives it, to be run elsewhere.
pub(super) fn trials(context: &Context, source: &Source) -> Result<Vec<Trial>, Verdict> {
    with_program(context, source, |compiler, case, text| {
        let kernel =
            case.compile(compiler, text, &ProgramOptions::default()).map_err(|error| refused(&error.into()))?;
        let trial = case.trial(kernel).map_err(|message| Verdict::fail(Level::Layout, message))?;
        Ok(vec![trial])
    })?
}
