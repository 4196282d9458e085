//! The glossary is written from its data, and the tree does not use retired words more often than the data allows.

use std::fmt::Write;
use std::path::PathBuf;

use tilewright_book::{Glossary, Vocabulary, folder};
use tilewright_testkit::golden;

fn data() -> PathBuf {
    folder().join("glossary.toml")
}

fn glossary() -> Glossary {
    let text = std::fs::read_to_string(data()).expect("the data");
    Glossary::read(&text).unwrap_or_else(|error| panic!("{}: {error}", data().display()))
}

#[test]
fn the_page_is_written_from_the_data() {
    golden::check(&folder().join("glossary.md"), &glossary().page());
}

/// Counts may only fall: a new use fails here with its place and the term to use, and a count that fell must be written
/// down. `TILEWRIGHT_BLESS=1` writes lower counts and never higher ones.
#[test]
fn retired_words_only_become_fewer() {
    let _guard = crate::PAGES.lock();
    let root = folder().join("..");
    let tree = Vocabulary::of_tree(&root, &["glossary.md"]).expect("the tree");
    let mut text = std::fs::read_to_string(data()).expect("the data");
    let mut wrong = String::new();
    for term in &glossary().terms {
        for retired in &term.retired {
            let (word, scope, allowed) = (&retired.word, retired.scope, retired.allowed);
            let uses = tree.uses(scope, word).iter().filter(|used| !retired.except.contains_key(&used.text));
            let uses: Vec<_> = uses.collect();
            let entry = |count: usize| {
                format!("word = \"{word}\", in = \"{}\", allowed = {count}", format!("{scope:?}").to_lowercase())
            };
            if uses.len() > allowed {
                let _ = writeln!(
                    wrong,
                    "`{word}` in {scope:?}: {} uses, {allowed} are allowed; say `{}`",
                    uses.len(),
                    term.name
                );
                wrong.extend(uses.iter().map(|used| format!("  {}: {}\n", used.place, used.text)));
            } else if uses.len() < allowed && golden::blesses() {
                let (old, new) = (entry(allowed), entry(uses.len()));
                assert!(text.contains(&old), "{}: no line with `{old}`", data().display());
                text = text.replace(&old, &new);
            } else if uses.len() < allowed {
                let _ = writeln!(
                    wrong,
                    "`{word}` in {scope:?}: {} uses are left of {allowed}; TILEWRIGHT_BLESS=1 writes it",
                    uses.len()
                );
            }
        }
    }
    if golden::blesses() {
        std::fs::write(data(), text).expect("the data is written");
    }
    assert!(wrong.is_empty(), "{wrong}");
}
