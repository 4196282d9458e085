//! Targets of the tests that compile in their own process.

use std::sync::Arc;

use tilewright::Session;
use tilewright_plugin::Target;

/// The targets of these names, served by the plugins beside the suite, in this process so that what panics is seen.
pub fn targets(names: &[&str]) -> Vec<Arc<dyn Target>> {
    let catalogue = tilewright_targets::catalogue().expect("the targets are read");
    let session = Session::builder(catalogue).open().expect("plugins are found");
    names.iter().map(|name| session.target(name).expect("served")).collect()
}
