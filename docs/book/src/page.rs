//! The pages of the book, with their links and headings.

use std::io;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Returns the folder of the book, `docs/`.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// A page of the book.
#[derive(Debug)]
pub struct Page {
    /// The page's file name in [`folder`].
    pub name: String,
    /// The page's text.
    pub text: String,
}

/// Returns all pages of the folder and of its folder `results`, except the summary, sorted by name.
///
/// # Errors
/// The folder or a page cannot be read.
pub fn pages() -> io::Result<Vec<Page>> {
    let mut pages = Vec::new();
    for part in ["", "results/"] {
        for entry in std::fs::read_dir(folder().join(part))? {
            let file = entry?.path();
            let name = format!("{part}{}", file.file_name().unwrap_or_default().to_string_lossy());
            if name.ends_with(".md") && name != "SUMMARY.md" {
                pages.push(Page { name, text: std::fs::read_to_string(file)? });
            }
        }
    }
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pages)
}

/// Returns the targets of the links and pictures of a page, as written.
#[must_use]
pub fn links(text: &str) -> Vec<String> {
    let links = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    links.collect()
}

/// Returns the ids of a page's headings in mdBook's form: lower case, hyphens for spaces, no other punctuation; a
/// repeated id gets a number.
#[must_use]
pub fn headings(text: &str) -> Vec<String> {
    let (mut found, mut heading): (Vec<String>, Option<String>) = (Vec::new(), None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
            (Event::End(TagEnd::Heading(_)), _) => {
                let id = heading_id(&heading.take().unwrap_or_default());
                let before = found.iter().filter(|known| **known == id).count();
                found.push(if before == 0 { id } else { format!("{id}-{before}") });
            }
            _ => {}
        }
    }
    found
}

fn heading_id(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}
