//! Devices across the boundary: the extension `devices` of a plugin's table.
//!
//! A target's devices are opened together, as one set, and addressed by their place in it. [`serve`] is the plugin's
//! side, [`library`] a host's in the same process, [`proxy`] what a host sees of either kind of process; [`call`] has
//! the calls as values. A set lives in one process: where that ends, its devices are gone, and are opened anew.

pub(super) mod call;
mod error;
pub(super) mod library;
pub(super) mod proxy;
pub(super) mod serve;
