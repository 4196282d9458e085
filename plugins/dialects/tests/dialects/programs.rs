//! Tests that operations of vendors' dialects parse, verify, and print as Triton 3.9.0 prints them.

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

/// No dialect file has a row for an operation of another file: that row would change the semantics of programs.
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
