//! `tilewright draw instruction`: who holds each element of an instruction's operands.

use clap::Args;
use tilewright_picture::view;

use super::Destination;
use crate::failure::Failure;
use crate::{Global, input};

/// What to draw.
#[derive(Debug, Args)]
pub struct Options {
    /// The instruction's name, or enough of it to tell it from the target's others.
    name: String,
    /// The target.
    #[arg(long, value_name = "NAME")]
    target: String,
    #[command(flatten)]
    destination: Destination,
}

/// Names of other instructions that a message lists.
const MOST: usize = 12;

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let target = session.target(&options.target)?;
    let rows = target.instructions();
    let exact = rows.iter().filter(|row| row.name == options.name);
    let alike = rows.iter().filter(|row| row.name.contains(&options.name) && row.name != options.name);
    let found: Vec<_> = exact.chain(alike).collect();
    let row = match found.as_slice() {
        [only] => only,
        [first, ..] if first.name == options.name => first,
        several => {
            let listed = if several.is_empty() { rows.iter().collect() } else { several.to_vec() };
            let names: Vec<_> = listed.iter().take(MOST).map(|row| row.name.as_str()).collect();
            let dots = if listed.len() > MOST { ", ..." } else { "" };
            let count = several.len();
            return Err(Failure::Input(format!(
                "target {} has {count} instructions called `{}`; there are {}{dots}",
                options.target,
                options.name,
                names.join(", ")
            )));
        }
    };
    options.destination.draw(view::instruction(row)?)
}
