//! Devices across the plugin boundary: calls through the optional table `devices` that is chained to a plugin's table.
//!
//! A target's devices are opened together, as one set, and addressed by their index in the set. [`serve`] is the
//! plugin's side, [`library`] the host's side for a plugin in the same process, [`proxy`] the host's view of a plugin
//! in either process; [`call`] has the calls as values. A set lives in one process: if that process ends, its devices
//! are gone and must be opened again.

pub(super) mod call;
mod error;
pub(super) mod library;
pub(super) mod proxy;
pub(super) mod serve;
