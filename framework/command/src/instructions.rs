//! `tilewright instructions`: the instruction table of a target.

use std::io::Write;

use clap::Args;
use comfy_table::{Table, presets};
use serde_json::{Value as Json, json};

use tilewright::layout::Dim;
use tilewright::target::{Instruction, InstructionKind, Operand};

use crate::draw::{Destination, draw_instruction};
use crate::failure::Failure;
use crate::{Global, input};

/// Which table.
#[derive(Debug, Args)]
pub struct Options {
    /// The target.
    #[arg(long, value_name = "NAME")]
    target: String,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// Draw who holds each element of this instruction's operands; enough of its name to tell it from the others.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    draw: Option<String>,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let target = session.target(&options.target)?;
    if let Some(name) = &options.draw {
        return draw_instruction(target.instructions(), &options.target, name, &options.destination);
    }
    if !options.destination.is_everything_to_terminal() {
        return Err(Failure::Input(
            "only a picture goes to a file or is drawn in part: name one with --draw".to_owned(),
        ));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["instruction", "shape", "types", "cycles", "source"]);
    let mut out = std::io::stdout().lock();
    for row in target.instructions() {
        if options.json {
            writeln!(out, "{}", line(row))?;
            continue;
        }
        let cycles = row.cycles.map_or_else(|| "unknown".to_owned(), |cycles| cycles.to_string());
        table.add_row([row.name.clone(), shape(row), types(row).join(" "), cycles, row.source.clone()]);
    }
    if !options.json {
        writeln!(out, "{}", table.trim_fmt())?;
    }
    Ok(())
}

fn line(row: &Instruction) -> Json {
    let kind = match row.kind {
        InstructionKind::Matrix => "matrix",
        InstructionKind::SharedMove => "shared_move",
        _ => "other",
    };
    let types: serde_json::Map<String, Json> =
        registers(row).map(|(role, element, _)| (role, element.into())).collect();
    json!({
        "name": row.name, "kind": kind, "shape": shape(row), "types": types, "cycles": row.cycles,
        "source": row.source, "numerics": row.numerics,
    })
}

/// Role, element type and sizes of each register operand.
fn registers(row: &Instruction) -> impl Iterator<Item = (String, &str, Vec<u64>)> {
    row.operands.iter().filter_map(|operand| match operand {
        Operand::Register { role, element, layout, .. } => {
            let sizes = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
            Some((role.clone(), element.as_str(), sizes))
        }
        _ => None,
    })
}

/// Element types of the register operands, in the order of the row.
fn types(row: &Instruction) -> Vec<&str> {
    registers(row).map(|(_, element, _)| element).collect()
}

/// M x N x K of a product, with the number of blocks where there are several; of a move the slots
/// and the bytes of each.
fn shape(row: &Instruction) -> String {
    let access = row.operands.iter().find_map(|operand| match operand {
        Operand::Access { data, .. } => Some((data.out_bits(Dim::named("slot")), data.out_bits(Dim::named("byte")))),
        _ => None,
    });
    if let Some((slots, bytes)) = access {
        return format!("{} slots of {} bytes", 1u64 << slots, 1u64 << bytes);
    }
    let of = |wanted: &str| registers(row).find(|(role, ..)| role == wanted).map(|(_, _, sizes)| sizes);
    match (of("d").as_deref(), of("a").as_deref()) {
        (Some([m, n]), Some([_, k])) => format!("{m}x{n}x{k}"),
        (Some([m, n, blocks]), Some([_, k, _])) => format!("{m}x{n}x{k}, {blocks} blocks"),
        _ => "unknown".to_owned(),
    }
}
