//! Options of `tilewright layout`, and the choice between its two forms.

use clap::{Args, Subcommand};

use crate::GlobalOptions;
use crate::failure::CommandError;

use super::{operation, show};

/// Options of `tilewright layout`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Options {
    #[command(flatten)]
    shown: Option<show::Options>,
    #[command(subcommand)]
    form: Option<Form>,
}

#[derive(Debug, Subcommand)]
enum Form {
    /// Perform an operation on layouts; without a name, list the operations.
    Op(operation::Options),
}

/// Runs `tilewright layout`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    match (&options.form, &options.shown) {
        (Some(Form::Op(options)), _) => operation::run(global, options),
        (None, Some(options)) => show::run(global, options),
        (None, None) => Err(CommandError::Input("expected a layout, or `op`".to_owned())),
    }
}
