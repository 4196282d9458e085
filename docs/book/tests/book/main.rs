//! Tests of `book`, one module for each subject.

mod commands;
mod glossary;
mod pages;

use std::sync::Mutex;

/// Held by tests that write pages or count their words: with `TILEWRIGHT_BLESS=1` one must not count what another is writing.
static PAGES: Mutex<()> = Mutex::new(());
