//! Targets of the tests that compile in their own process.

use std::sync::Arc;

use tilewright_plugin::Target;
use tilewright_plugin::{Discovery, Registry};

/// The targets of these names, served by the plugins beside the suite, in this process so that what panics is seen.
pub fn targets(names: &[&str]) -> Vec<Arc<dyn Target>> {
    let catalogue = tilewright_targets::catalogue().expect("the targets are read");
    let mut registry = Registry::new();
    registry.discover(&Discovery::standard()).expect("plugins are found");
    let open = |name: &&str| registry.target(catalogue.get(name).expect("known")).expect("served");
    names.iter().map(open).collect()
}
