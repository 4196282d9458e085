//! The cases of real programs.

use tilewright_testkit::shared_data;
use tilewright_verify::case::{After, Case};

/// Every case of the data: its buffers and arguments are read, and what must be left is what is left.
pub fn all_cases_are_read() {
    let files = Case::files(&shared_data::path("kernels/cases")).expect("the folder");
    assert!(files.len() >= 220, "{}", files.len());
    for file in files {
        let case = Case::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(case.program.is_file(), "{}", case.program.display());
        for buffer in &case.buffers {
            let right = match &buffer.after {
                After::Expected { bytes, .. } => bytes,
                After::Unchanged | After::Anything => &buffer.before,
                After::Masked { .. } | After::Near { .. } => {
                    panic!("{}: {}: no file of a case says this", case.name, buffer.name)
                }
            };
            assert_eq!(buffer.difference(right), None, "{}: {}", case.name, buffer.name);
        }
    }
}
