//! Tests that operations of vendors' dialects parse, verify, and print as Triton 3.9.0 prints them.

use tilewright_dialects::{DIALECT_FILES, VERIFY_RULE_SETS, all_dialects};
use tilewright_tile::op::VerifyCondition;
use tilewright_tile::{text, verify_module};

const PROGRAMS: [(&str, &str); 3] = [
    ("buffers", include_str!("../programs/buffers.ttgir")),
    ("bulk", include_str!("../programs/bulk.ttgir")),
    ("tiles", include_str!("../programs/tiles.ttgir")),
];

#[test]
fn operations_are_written_as_they_were_read() {
    for (name, program) in PROGRAMS {
        let module = text::parse_module(program, &all_dialects()).unwrap_or_else(|error| panic!("{name}:{error}"));
        verify_module(&module).unwrap_or_else(|violation| panic!("{name}:{}", violation.to_text_error(program)));
        let (_, without_comment) = program.split_once('\n').expect("a comment in the first line");
        assert_eq!(text::print_module(&module), without_comment, "{name}");
    }
}

/// No dialect file has a row for an operation of another file: that row would change the semantics of programs.
#[test]
fn no_dialect_replaces_operations_of_another() {
    let neutral = tilewright_tile::op::Dialects::neutral();
    let known = neutral.iter().len();
    let mut alone = 0;
    for (file, rows) in DIALECT_FILES {
        let mut dialect = tilewright_tile::op::Dialects::default();
        VERIFY_RULE_SETS
            .iter()
            .try_for_each(|rules| dialect.register_rules(rules))
            .unwrap_or_else(|error| panic!("{error}"));
        dialect.add_dialect(file, rows).unwrap_or_else(|error| panic!("{error}"));
        alone += dialect.iter().len();
    }
    assert_eq!(all_dialects().iter().len(), known + alone);
}

/// Some row of a dialect file names each rule of the sets, and no two rules have the same name.
#[test]
fn rows_name_every_rule() {
    let dialects = all_dialects();
    for rule in VERIFY_RULE_SETS.iter().flat_map(|set| set.rules) {
        let is_named = |condition: &VerifyCondition| matches!(condition, VerifyCondition::Named { rule: named, .. } if named == rule);
        assert!(dialects.iter().any(|definition| definition.verify.iter().any(is_named)), "{}", rule.name);
    }
    let mut twice = all_dialects();
    let error = twice.register_rules(&VERIFY_RULE_SETS[0]).expect_err("the rules exist").to_string();
    assert!(error.contains("there is a rule `buffer` already"), "{error}");
}
