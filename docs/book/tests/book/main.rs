//! Tests of `book`, one module for each subject.

mod commands;
mod pages;
