//! Reads the pages of the book in `docs/`, their links, commands and transcripts.
//!
//! The tests follow the links of the pages, run their commands, and compare the output in transcripts.

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
