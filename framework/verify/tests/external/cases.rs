//! The program cases of real kernels.

use tilewright_testkit::shared_data;
use tilewright_verify::case::{ExpectedContents, ProgramCase};

/// Reads every case of the data, and checks that its expected buffers equal themselves.
pub fn all_cases_are_read() {
    let files = ProgramCase::list_case_files(&shared_data::path("kernels/cases")).expect("the folder");
    assert!(files.len() >= 220, "{}", files.len());
    for file in files {
        let case = ProgramCase::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(case.program.is_file(), "{}", case.program.display());
        for buffer in &case.buffers {
            let right = match &buffer.after {
                ExpectedContents::Expected { bytes, .. } => bytes,
                ExpectedContents::Unchanged | ExpectedContents::Anything => &buffer.before,
                ExpectedContents::Masked { .. } | ExpectedContents::Near { .. } => {
                    panic!("{}: {}: no file of a case says this", case.name, buffer.name)
                }
            };
            assert_eq!(buffer.compare_contents(right), None, "{}: {}", case.name, buffer.name);
        }
    }
}
