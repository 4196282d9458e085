//! The program cases of real kernels.

use tilewright_testkit::shared_data;
use tilewright_verify::case::{Expectation, ProgramCase};

/// Reads every case of the data, and checks that its expected buffers equal themselves.
pub fn all_cases_are_read() {
    let files = ProgramCase::list_files(&shared_data::path("kernels/cases")).expect("the folder");
    assert!(files.len() >= 220, "{}", files.len());
    for file in files {
        let case = ProgramCase::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(case.program.is_file(), "{}", case.program.display());
        for buffer in &case.buffers {
            let right = match &buffer.after {
                Expectation::Expected { bytes, .. } => bytes,
                Expectation::Unchanged | Expectation::Anything => &buffer.before,
                Expectation::Masked { .. } | Expectation::Near { .. } => {
                    panic!("{}: {}: no file of a case says this", case.name, buffer.name)
                }
            };
            assert_eq!(buffer.difference(right), None, "{}: {}", case.name, buffer.name);
        }
    }
}
