//! Options that every subcommand has.

use std::path::PathBuf;

use clap::Args;

/// Options that every subcommand has.
#[derive(Debug, Args)]
pub struct GlobalOptions {
    /// Load this plugin first; may be given several times.
    #[arg(long, value_name = "FILE", global = true)]
    pub plugin: Vec<PathBuf>,
    /// Read more target files from this directory; may be given several times.
    #[arg(long, value_name = "DIR", global = true)]
    pub targets: Vec<PathBuf>,
}
