//! The book builds, has every page, and its links lead somewhere.

use std::collections::BTreeSet;
use std::path::Path;

use mdbook_driver::MDBook;
use tilewright_book::{Page, folder, links, pages};

fn built() -> tempfile::TempDir {
    let to = tempfile::tempdir().expect("a folder");
    let mut book = MDBook::load(folder()).expect("a book");
    book.config.build.build_dir = to.path().to_owned();
    book.build().expect("the book builds");
    to
}

fn rendered(book: &Path, page: &str) -> String {
    let file = book.join(page.replace(".md", ".html"));
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = std::fs::read_to_string(folder().join("SUMMARY.md")).expect("the summary");
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    let there: BTreeSet<String> = pages().expect("the pages").into_iter().map(|page| page.name).collect();
    assert_eq!(listed, there);
}

/// Pages, pictures and other files of the repository that are linked exist, and so do the headings that links name.
#[test]
fn the_book_builds_and_its_links_lead_somewhere() {
    let book = built();
    let mut followed = 0;
    for Page { name, text } in pages().expect("the pages") {
        assert!(rendered(book.path(), &name).contains("<main>"), "{name}");
        for link in links(&text) {
            if link.starts_with("http") {
                continue;
            }
            let (file, heading) = link.split_once('#').map_or((link.as_str(), None), |(file, at)| (file, Some(at)));
            let page = if file.is_empty() { name.as_str() } else { file };
            assert!(folder().join(page).exists(), "{name}: {link} leads nowhere");
            if let Some(heading) = heading {
                let id = format!("id=\"{heading}\"");
                assert!(rendered(book.path(), page).contains(&id), "{name}: {link}: {page} has no such heading");
            }
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed} links");
}
