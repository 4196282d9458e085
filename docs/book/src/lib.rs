//! The pages of the book in `docs/`, and the commands that they show.
//!
//! The tests follow the links of the pages, run their commands, and compare the output that pages show.

mod command;
mod glossary;
mod page;
mod transcript;
mod vocabulary;

pub use command::commands;
pub use glossary::{Glossary, Retired, Term};
pub use page::{Page, folder, headings, links, pages};
pub use transcript::{Transcript, rewrite_transcripts};
pub use vocabulary::{Scope, Use, Vocabulary};
