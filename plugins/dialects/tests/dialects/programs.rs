//! Operations of vendors' dialects are read, keep the rules, and are written as Triton 3.9.0 writes them.

use std::path::PathBuf;

use tilewright_dialects::{FILES, all};
use tilewright_tile::{text, verify};

const PROGRAMS: [(&str, &str); 3] = [
    ("buffers", include_str!("../programs/buffers.ttgir")),
    ("bulk", include_str!("../programs/bulk.ttgir")),
    ("tiles", include_str!("../programs/tiles.ttgir")),
];

#[test]
fn operations_are_written_as_they_were_read() {
    for (name, program) in PROGRAMS {
        let module = text::parse(program, &all()).unwrap_or_else(|error| panic!("{name}:{error}"));
        verify(&module).unwrap_or_else(|violation| panic!("{name}:{}", violation.in_text(program)));
        let (_, without_comment) = program.split_once('\n').expect("a comment in the first line");
        assert_eq!(text::print(&module), without_comment, "{name}");
    }
}

/// A row that replaces one of another file would change what programs mean.
#[test]
fn no_dialect_replaces_operations_of_another() {
    let neutral = tilewright_tile::op::Dialects::neutral();
    let known = neutral.iter().len();
    let mut alone = 0;
    for (file, rows) in FILES {
        let mut dialect = tilewright_tile::op::Dialects::default();
        dialect.add(file, rows).unwrap_or_else(|error| panic!("{error}"));
        alone += dialect.iter().len();
    }
    assert_eq!(all().iter().len(), known + alone);
}

/// All programs of the full data: those before layouts are assigned are written as Triton wrote them, character by
/// character but for comments; those after with other names for layouts.
#[test]
fn real_programs_are_written_as_they_were_read() {
    let Some(shared) = std::env::var_os("TILEWRIGHT_SHARED") else { return };
    let dialects = all();
    let mut count = 0;
    for (part, end) in [("cases", "ttir"), ("ttgir", "ttgir")] {
        let folder = PathBuf::from(&shared).join("kernels").join(part);
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
        for path in paths.filter(|path| path.extension().is_some_and(|found| found == end)) {
            count += 1;
            let program = std::fs::read_to_string(&path).expect("a program that can be read");
            let module = text::parse(&program, &dialects).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            if let Err(violation) = verify(&module) {
                panic!("{}:{}", path.display(), violation.in_text(&program));
            }
            let printed = text::print(&module);
            let again = text::parse(&printed, &dialects).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            assert_eq!(text::print(&again), printed);
            if part == "cases" {
                assert_eq!(plain(&printed), plain(&program), "{}", path.display());
            }
        }
    }
    assert!(count > 800, "{count} programs");
}

/// Without comments, and with one blank for several.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| line.split(" //").next().unwrap_or(line));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}
