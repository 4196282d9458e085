//! Tests of `plugin`, one module for each subject.

mod header;
mod hostile;
mod registry;
