//! Runs complete tile programs on a device.

use tilewright::ProgramOptions;
use tilewright_verify::TestCase;

use super::super::executed::not_built;
use super::source::Source;
use super::{refused, with_program};
use crate::{Context, Verdict};

/// Builds the program's kernel, with the inputs and expected buffers of its test case.
pub(super) fn test_cases(context: &Context, source: &Source) -> Result<Vec<TestCase>, Verdict> {
    with_program(context, source, |compiler, case, text| {
        let kernel =
            case.compile_variant(compiler, text, &ProgramOptions::default()).map_err(|error| refused(&error.into()))?;
        case.to_test_case(kernel).map(|case| vec![case]).map_err(not_built)
    })?
}
