//! Tests of the crate `plugin`, one module for each subject.

mod external_tool;
mod header;
mod hostile;
mod registry;
