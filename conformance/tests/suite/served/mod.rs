//! Targets for tests that compile in the test's own process.

use std::sync::Arc;

use tilewright::Session;
use tilewright_plugin::Target;

/// Returns the targets of these names, served by the suite's plugins in this process, so that panics are seen.
pub fn targets(names: &[&str]) -> Vec<Arc<dyn Target>> {
    let catalogue = tilewright_targets::read_default_catalogue().expect("the targets are read");
    let session = Session::builder(catalogue).open().expect("plugins are found");
    names.iter().map(|name| session.target(name).expect("served")).collect()
}
