//! The conformance suite as a command: arguments and subcommands.

mod arguments;
mod choose;
mod claim;
mod command;
mod interrupt;
mod merge;
mod output;
mod pack;
mod repro;
mod run;
mod smoke;
mod stop;
mod suite;

pub use suite::{OpenTargets, PluginIsolation, Suite};
