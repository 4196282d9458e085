//! `tilewright instructions`: the instruction table of a target.

use std::io::Write;

use clap::Args;
use comfy_table::{Table, presets};
use serde_json::{Value as Json, json};

use tilewright::layout::Dim;
use tilewright::target::{Instruction, InstructionKind, MemoryOperand, Operand, Semantics, UnusedInstruction};

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
    if options.json {
        target.unused_instructions().iter().try_for_each(|form| writeln!(out, "{}", unused_line(form)))?;
        return Ok(());
    }
    writeln!(out, "{}", table.trim_fmt())?;
    if !target.unused_instructions().is_empty() {
        writeln!(out, "\n{}", unused_table(target.unused_instructions()).trim_fmt())?;
    }
    Ok(())
}

/// What is known and nothing uses, with the reason.
fn unused_table(forms: &[UnusedInstruction]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["known and unused", "shape", "types", "reason", "source"]);
    for form in forms {
        let types: Vec<&str> = form.types.iter().map(|(_, element)| element.as_str()).collect();
        let said = |[m, n, k]: &[u64; 3]| format!("{m}x{n}x{k}");
        let shapes = match form.shapes.as_slice() {
            [first, .., last] if form.shapes.len() > 4 => {
                format!("{} to {}, {} sizes", said(first), said(last), form.shapes.len())
            }
            few => few.iter().map(said).collect::<Vec<_>>().join(" "),
        };
        table.add_row([form.name.clone(), shapes, types.join(" "), form.reason.clone(), form.source.clone()]);
    }
    table
}

fn unused_line(form: &UnusedInstruction) -> Json {
    let types: serde_json::Map<String, Json> =
        form.types.iter().map(|(role, element)| (role.clone(), element.as_str().into())).collect();
    json!({
        "name": form.name, "unused": form.reason, "shapes": form.shapes, "types": types, "source": form.source,
    })
}

fn line(row: &Instruction) -> Json {
    let kind = match row.kind {
        InstructionKind::Matrix => "matrix",
        InstructionKind::SharedMove => "shared_move",
        InstructionKind::AsyncCopy => "async_copy",
        InstructionKind::TensorMove => "tensor_move",
        InstructionKind::Prefetch => "prefetch",
        InstructionKind::GlobalMove => "global_move",
        _ => "other",
    };
    let types: serde_json::Map<String, Json> = tiles(row).map(|(role, element, _)| (role, element.into())).collect();
    json!({
        "name": row.name, "kind": kind, "shape": shape(row), "types": types, "cycles": row.cycles,
        "memory": in_memory(row).map(|memory| memory.role.clone()).collect::<Vec<_>>(), "warps": warps(row),
        "saturates": row.semantics == Semantics::ContractSaturating, "source": row.source, "numerics": row.numerics,
    })
}

/// The operands that are read from shared memory.
fn in_memory(row: &Instruction) -> impl Iterator<Item = &MemoryOperand> {
    row.operands.iter().filter_map(|operand| match operand {
        Operand::Memory(memory) => Some(memory),
        _ => None,
    })
}

/// Warps that issue it together.
fn warps(row: &Instruction) -> u32 {
    let of = |operand: &Operand| match operand {
        Operand::Register { layout, .. } => layout.in_bits(Dim::WARP),
        _ => 0,
    };
    1 << row.operands.iter().map(of).max().unwrap_or(0)
}

/// Role, element type and sizes of each operand that is a tile of a matrix, in registers or in a memory.
fn tiles(row: &Instruction) -> impl Iterator<Item = (String, &str, Vec<u64>)> {
    row.operands.iter().filter_map(|operand| match operand {
        Operand::Register { role, element, layout, .. } => {
            let sizes = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
            Some((role.clone(), element.as_str(), sizes))
        }
        Operand::Memory(memory) => Some((memory.role.clone(), memory.element.as_str(), memory.shape.to_vec())),
        Operand::Tensor(tile) => {
            let sizes = tile.layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
            Some((tile.role.clone(), tile.element.as_str(), sizes))
        }
        _ => None,
    })
}

/// Element types of the operands that are tiles, in the order of the row.
fn types(row: &Instruction) -> Vec<&str> {
    tiles(row).map(|(_, element, _)| element).collect()
}

/// What is told of a product beside its sizes: the warps that issue it together, the factors in shared memory.
fn told(row: &Instruction) -> String {
    let warps = warps(row);
    let warps = if warps > 1 { format!(", {warps} warps") } else { String::new() };
    let roles: Vec<_> = in_memory(row).map(|memory| memory.role.as_str()).collect();
    let memory = if roles.is_empty() { String::new() } else { format!(", {} in memory", roles.join(" and ")) };
    let tensor = row.operands.iter().find_map(Operand::tensor);
    let tensor = tensor.map(|tile| format!(", {} in tensor memory", tile.role)).unwrap_or_default();
    warps + &memory + &tensor
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
    if let Some(shape) = bulk_shape(row) {
        return shape;
    }
    let of = |wanted: &str| tiles(row).find(|(role, ..)| role == wanted).map(|(_, _, sizes)| sizes);
    match (row.extent(), of("d").as_deref()) {
        (Some([m, n, k]), Some([_, _, blocks])) => format!("{m}x{n}x{k}, {blocks} blocks"),
        (Some([m, n, k]), _) => format!("{m}x{n}x{k}{}", told(row)),
        _ => match row.operands.iter().find_map(Operand::tensor) {
            Some(tile) => {
                let [rows, columns] = [Dim::ROW, Dim::COL].map(|dim| 1u64 << tile.layout.in_bits(dim));
                format!("{rows} rows of {columns} columns")
            }
            None => "unknown".to_owned(),
        },
    }
}

/// What a row copies in bulk, or prefetches.
fn bulk_shape(row: &Instruction) -> Option<String> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Box(operand) => Some(format!("boxes of {} axes, up to {} along each", operand.rank, operand.most)),
        Operand::Block(block) => {
            Some(format!("{} rows of {} columns of {} bits", block.rows, block.columns, block.element_bits))
        }
        Operand::SpanBytes { grain } => Some(format!("spans of multiples of {grain} bytes")),
        _ => None,
    })
}
