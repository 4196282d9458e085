//! Checks that the summary has every page, and that links point to existing files and headings.

use std::collections::BTreeSet;

use tilewright_book::{Page, folder, headings, links, pages};

#[test]
fn every_page_is_in_the_summary() {
    let summary = std::fs::read_to_string(folder().join("SUMMARY.md")).expect("the summary");
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    let there: BTreeSet<String> = pages().expect("the pages").into_iter().map(|page| page.name).collect();
    assert_eq!(listed, there);
}

#[test]
fn ids_of_headings_are_those_of_mdbook() {
    let text = "# A page\n## `tw.size`, twice\n## 6a. Costs\n## Costs\n## Costs\n";
    assert_eq!(headings(text), ["a-page", "twsize-twice", "6a-costs", "costs", "costs-1"]);
}

/// Linked pages, pictures, other files of the repository, and headings exist.
#[test]
fn links_lead_somewhere() {
    let mut followed = 0;
    for Page { name, text } in pages().expect("the pages") {
        for link in links(&text) {
            if link.starts_with("http") {
                continue;
            }
            let (file, heading) = link.split_once('#').map_or((link.as_str(), None), |(file, at)| (file, Some(at)));
            let own = folder().join(&name);
            let page = if file.is_empty() { own.clone() } else { own.parent().expect("a folder").join(file) };
            assert!(page.exists(), "{name}: {link} leads nowhere");
            if let Some(heading) = heading {
                let text = std::fs::read_to_string(page).expect("a page");
                let known = headings(&text);
                assert!(known.iter().any(|id| id == heading), "{name}: {link}: no such heading: {known:?}");
            }
            followed += 1;
        }
    }
    assert!(followed > 100, "{followed} links");
}
