//! Tests of `book`, one module for each subject.

mod commands;
mod glossary;
mod pages;
mod vendors;

use std::sync::Mutex;

/// Locked by tests that write pages or count their words: with `TILEWRIGHT_BLESS=1` they must not run at the same time.
static PAGES: Mutex<()> = Mutex::new(());
