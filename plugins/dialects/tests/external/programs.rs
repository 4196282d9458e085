//! Tests that real programs print as they were read.

use tilewright_dialects::all_dialects;
use tilewright_testkit::shared_data;
use tilewright_tile::{text, verify_module};

/// Parses and prints all programs of the shared data. Programs without layouts print as Triton printed them, except for
/// comments; programs with layouts print with other names of layout aliases.
pub fn real_programs_are_written_as_they_were_read() {
    let dialects = all_dialects();
    let mut count = 0;
    for (directory, end) in [("cases", "ttir"), ("ttgir", "ttgir")] {
        let folder = shared_data::path("kernels").join(directory);
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
        for path in paths.filter(|path| path.extension().is_some_and(|found| found == end)) {
            count += 1;
            let program = std::fs::read_to_string(&path).expect("a program that can be read");
            let module =
                text::parse_module(&program, &dialects).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            if let Err(violation) = verify_module(&module) {
                panic!("{}:{}", path.display(), violation.to_text_error(&program));
            }
            let printed = text::print_module(&module);
            let reparsed =
                text::parse_module(&printed, &dialects).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            assert_eq!(text::print_module(&reparsed), printed);
            if directory == "cases" {
                assert_eq!(plain(&printed), plain(&program), "{}", path.display());
            }
        }
    }
    assert!(count > 800, "{count} programs");
}

/// Returns a text without comments, and with one blank for each run of blanks.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| line.split(" //").next().unwrap_or(line));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
