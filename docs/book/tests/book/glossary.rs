//! Compares the glossary page with its data, and checks that retired words are used no more often than it allows.

use std::fmt::Write;
use std::path::PathBuf;

use regex::Regex;
use tilewright_book::{Glossary, Vocabulary, folder};
use tilewright_testkit::golden;

fn data() -> PathBuf {
    folder().join("glossary.toml")
}

fn glossary() -> Glossary {
    let text = std::fs::read_to_string(data()).expect("the data");
    Glossary::read(&text).unwrap_or_else(|error| panic!("{}: {error}", data().display()))
}

fn tree() -> Vocabulary {
    Vocabulary::of_tree(&folder().join(".."), &["glossary.md"]).expect("the tree")
}

#[test]
fn the_page_is_written_from_the_data() {
    golden::check(&folder().join("glossary.md"), &glossary().page());
}

/// Counts may only fall. A new use fails with its location and the term to use; a lower count must be written to the
/// data, which `TILEWRIGHT_BLESS=1` does.
#[test]
fn retired_words_only_become_fewer() {
    let _guard = crate::PAGES.lock();
    let tree = tree();
    let mut text = std::fs::read_to_string(data()).expect("the data");
    let mut wrong = String::new();
    for term in &glossary().terms {
        for retired in &term.retired {
            let uses: Vec<_> = retired
                .scopes
                .iter()
                .flat_map(|scope| tree.uses(*scope, &retired.word))
                .filter(|used| !retired.except.contains_key(&used.text))
                .collect();
            let (word, allowed) = (&retired.word, retired.allowed);
            if uses.len() > allowed {
                let _ = writeln!(wrong, "`{word}`: {} uses, {allowed} are allowed; say `{}`", uses.len(), term.name);
                wrong.extend(uses.iter().map(|used| format!("  {}: {}\n", used.location, used.text)));
            } else if uses.len() < allowed {
                let line = |count: usize| format!("word = \"{word}\", allowed = {count},");
                assert!(text.contains(&line(allowed)), "{}: no line with `{}`", data().display(), line(allowed));
                text = text.replace(&line(allowed), &line(uses.len()));
                let _ = writeln!(
                    wrong,
                    "`{word}`: {} uses of {allowed} are left; TILEWRIGHT_BLESS=1 writes it",
                    uses.len()
                );
            }
        }
    }
    if golden::blesses() {
        return std::fs::write(data(), text).expect("the data is written");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A line of prose with a phrase that is hard to read fails with its location and the form to write.
#[test]
fn phrases_that_are_hard_to_read_do_not_occur() {
    let _guard = crate::PAGES.lock();
    let tree = tree();
    let mut wrong = String::new();
    for phrase in &glossary().phrases {
        let pattern = Regex::new(&phrase.pattern).unwrap_or_else(|error| panic!("{}: {error}", data().display()));
        let lines: Vec<_> = tree.matches(&pattern).collect();
        assert!(phrase.allowed == 0 || !phrase.reason.is_empty(), "`{}` needs a reason", phrase.pattern);
        if lines.len() != phrase.allowed {
            let _ = writeln!(wrong, "{} lines, expected {}; {}", lines.len(), phrase.allowed, phrase.write);
            wrong.extend(lines.iter().map(|line| format!("  {}: {}\n", line.location, line.text)));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
