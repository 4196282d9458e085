//! `tilewright draw instruction`: the lane and register of each element of an instruction's operands.

use clap::Args;
use tilewright_picture::view;
use tilewright_target::Instruction;

use super::destination::PictureDestination;
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw instruction`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The instruction's name, or any part of it that no other instruction of the target has.
    name: String,
    /// Name of the target, e.g. `h100`.
    #[arg(long, value_name = "NAME")]
    target: String,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Max names of similar instructions in an error message.
const MOST: usize = 12;

/// Runs `tilewright draw instruction`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let target = session.target(&options.target)?;
    draw_by_name(target.instructions(), &options.target, &options.name, &options.destination)
}

/// Draws the operands of the instruction with this name, or of the only instruction whose name contains it.
pub fn draw_by_name(
    rows: &[Instruction],
    target: &str,
    name: &str,
    destination: &PictureDestination,
) -> Result<(), CommandError> {
    let exact = rows.iter().filter(|row| row.name == name);
    let alike = rows.iter().filter(|row| row.name.contains(name) && row.name != name);
    let found: Vec<_> = exact.chain(alike).collect();
    let row = match found.as_slice() {
        [only] => only,
        [first, ..] if first.name == name => first,
        several => {
            let listed = if several.is_empty() { rows.iter().collect() } else { several.to_vec() };
            let names: Vec<_> = listed.iter().take(MOST).map(|row| row.name.as_str()).collect();
            let dots = if listed.len() > MOST { ", ..." } else { "" };
            let count = several.len();
            return Err(CommandError::Input(format!(
                "target {target} has {count} instructions called `{name}`; there are {}{dots}",
                names.join(", ")
            )));
        }
    };
    destination.draw(view::draw_instruction(row)?)
}
