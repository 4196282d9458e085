//! `tilewright instructions`: the instruction table of a target.

use std::io::Write;

use clap::Args;
use comfy_table::Table;
use serde_json::{Value as Json, json};

use tilewright_layout::Dim;
use tilewright_target::{
    Evidence, Instruction, InstructionKind, InstructionOperand, OmittedInstruction, Semantics, TargetDescription,
};

use crate::draw::destination::PictureDestination;
use crate::draw::draw_instruction;
use crate::failure::CommandError;
use crate::text_table::new_table;
use crate::{GlobalOptions, input};

/// Options of `tilewright instructions`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of the target, e.g. `h100`.
    #[arg(long, value_name = "NAME")]
    target: String,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// Draw the lane and register of each element of this instruction's operands. Any part of the name that no other
    /// instruction has is enough.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    draw: Option<String>,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright instructions`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let target = session.target(&options.target)?;
    if let Some(name) = &options.draw {
        return draw_instruction(target.instructions(), &options.target, name, &options.destination);
    }
    if !options.destination.is_default() {
        return Err(CommandError::Input(
            "-o, --rows and --columns are for pictures: name an instruction with --draw".to_owned(),
        ));
    }
    let (rows, forms) = (target.instructions(), target.omitted_instructions());
    let mut out = std::io::stdout().lock();
    if options.json {
        rows.iter().try_for_each(|row| writeln!(out, "{}", line(row, target.description())))?;
        forms.iter().try_for_each(|form| writeln!(out, "{}", unused_line(form)))?;
        return Ok(());
    }
    let mut notes = Notes::default();
    writeln!(out, "{}", used_table(rows, target.description(), &mut notes).trim_fmt())?;
    if !forms.is_empty() {
        writeln!(out, "\n{}", unused_table(forms, &mut notes).trim_fmt())?;
    }
    writeln!(out, "\nreasons and sources")?;
    (1..).zip(&notes.texts).try_for_each(|(number, text)| writeln!(out, "[{number}] {text}"))?;
    Ok(())
}

/// Footnotes: texts that many rows share, printed once below the tables.
#[derive(Default)]
struct Notes {
    texts: Vec<String>,
}

impl Notes {
    /// Returns the footnote number of a text; adds a new text to the footnotes.
    fn number(&mut self, text: &str) -> String {
        let known = self.texts.iter().position(|known| known == text);
        let at = known.unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        format!("[{}]", at + 1)
    }
}

/// The footnote on instructions that move data, which have no cycles in the table.
const MOVED: &str = "no cycles of its own: plans count the shared-memory wavefronts, sectors or columns of each access";

/// Returns the table of instructions, with the type of every operand and the evidence for their cycles.
fn used_table(rows: &[Instruction], target: &TargetDescription, notes: &mut Notes) -> Table {
    let mut table = new_table(["instruction", "shape", "types", "cycles", "evidence", "source"], 0..0);
    for row in rows {
        let (cycles, evidence) = match target.issue_cycles(row) {
            Some(issue) => {
                let evidence = format!("{} {}", evidence_text(issue.evidence), notes.number(issue.source));
                (format!("{}", (issue.cycles * 100.0).round() / 100.0), evidence)
            }
            None if row.semantics.is_mma() => ("unknown".to_owned(), String::new()),
            None => ("-".to_owned(), notes.number(MOVED)),
        };
        let types: Vec<String> = tiles(row).map(|(role, element, _)| format!("{role}:{element}")).collect();
        table.add_row([row.name.clone(), shape(row), types.join(" "), cycles, evidence, notes.number(&row.source)]);
    }
    table
}

fn evidence_text(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Measured => "measured",
        Evidence::Documented => "documented",
        Evidence::Assumed => "assumed",
    }
}

/// Returns the table of instructions that the hardware has but the compiler does not use, with the reason.
fn unused_table(forms: &[OmittedInstruction], notes: &mut Notes) -> Table {
    let mut table = new_table(["known and unused", "shape", "types", "reason", "source"], 0..0);
    for form in forms {
        let types: Vec<String> = form.types.iter().map(|(role, element)| format!("{role}:{element}")).collect();
        let shape_text = |[m, n, k]: &[u64; 3]| format!("{m}x{n}x{k}");
        let shapes = match form.shapes.as_slice() {
            [first, .., last] if form.shapes.len() > 4 => {
                format!("{} to {}, {} sizes", shape_text(first), shape_text(last), form.shapes.len())
            }
            few => few.iter().map(shape_text).collect::<Vec<_>>().join(" "),
        };
        let (reason, source) = (notes.number(&form.reason), notes.number(&form.source));
        table.add_row([form.name.clone(), shapes, types.join(" "), reason, source]);
    }
    table
}

fn unused_line(form: &OmittedInstruction) -> Json {
    let types: serde_json::Map<String, Json> =
        form.types.iter().map(|(role, element)| (role.clone(), element.as_str().into())).collect();
    json!({
        "name": form.name, "unused": form.reason, "shapes": form.shapes, "types": types, "source": form.source,
    })
}

fn line(row: &Instruction, target: &TargetDescription) -> Json {
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
    let issue = target.issue_cycles(row);
    let evidence = issue.map(|issue| json!({ "evidence": issue.evidence, "source": issue.source }));
    json!({
        "name": row.name, "kind": kind, "shape": shape(row), "types": types,
        "cycles": issue.map(|issue| issue.cycles), "cycles_evidence": evidence,
        "memory": row.operands.iter().filter_map(InstructionOperand::memory_operand).map(|memory| memory.role.clone()).collect::<Vec<_>>(), "warps": warps(row),
        "saturates": row.semantics == Semantics::ContractSaturating, "source": row.source, "numerics": row.numerics,
    })
}

/// Returns the number of warps that issue an instruction together.
fn warps(row: &Instruction) -> u32 {
    let layouts = row.operands.iter().filter_map(InstructionOperand::register_layout);
    1 << layouts.map(|layout| layout.in_bits(Dim::WARP)).max().unwrap_or(0)
}

/// Returns the role, element type and sizes of each operand that is a tile of a matrix, in registers or in a memory.
fn tiles(row: &Instruction) -> impl Iterator<Item = (String, &str, Vec<u64>)> {
    row.operands.iter().filter_map(|operand| match operand {
        InstructionOperand::Register { role, element, layout, .. } => {
            let sizes = layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
            Some((role.clone(), element.as_str(), sizes))
        }
        InstructionOperand::Memory(memory) => {
            Some((memory.role.clone(), memory.element.as_str(), memory.shape.to_vec()))
        }
        InstructionOperand::Tensor(tile) => {
            let sizes = tile.layout.outs().iter().map(|(_, bits)| 1 << bits).collect();
            Some((tile.role.clone(), tile.element.as_str(), sizes))
        }
        _ => None,
    })
}

/// Returns properties of an MMA instruction besides its sizes: the warps that issue it together, its operands in
/// memory, and the block size of its scales.
fn operand_notes(row: &Instruction) -> String {
    let warps = warps(row);
    let warps = if warps > 1 { format!(", {warps} warps") } else { String::new() };
    let memory = row.operands.iter().filter_map(InstructionOperand::memory_operand);
    let roles: Vec<_> = memory.map(|memory| memory.role.as_str()).collect();
    let memory = if roles.is_empty() { String::new() } else { format!(", {} in memory", roles.join(" and ")) };
    let tensor: Vec<_> = row
        .operands
        .iter()
        .filter_map(InstructionOperand::tensor_memory_operand)
        .map(|tile| tile.role.as_str())
        .collect();
    let tensor = if tensor.is_empty() { String::new() } else { format!(", {} in tensor memory", listed(&tensor)) };
    let scales = if row.takes_scales() { block_of(row) } else { String::new() };
    warps + &memory + &tensor + &scales
}

/// Joins words as `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [before @ .., one, last] if !before.is_empty() => format!("{}, {one} and {last}", before.join(", ")),
        words => words.join(" and "),
    }
}

/// Returns the number of elements along K that share a scale, as text.
fn block_of(row: &Instruction) -> String {
    let of = |requested: &str| tiles(row).find(|(role, ..)| role == requested).map(|(_, _, sizes)| sizes);
    match (row.mma_shape(), of("scale_a").as_deref()) {
        (Some([_, _, k]), Some([_, blocks])) if *blocks > 0 => format!(", a scale for {} along K", k / blocks),
        _ => String::new(),
    }
}

/// Returns the size of an instruction as text: for an MMA M x N x K, and the number of blocks if there are several; for
/// a move of memory segments their number and the bytes of each; for other moves the box, block or rows that they move.
fn shape(row: &Instruction) -> String {
    if let Some((data, ..)) = row.access_operand() {
        let [segments, bytes] = ["slot", "byte"].map(|dim| 1u64 << data.out_bits(Dim::named(dim)));
        return format!("{segments} slots of {bytes} bytes");
    }
    if let Some(shape) = bulk_shape(row) {
        return shape;
    }
    let of = |requested: &str| tiles(row).find(|(role, ..)| role == requested).map(|(_, _, sizes)| sizes);
    match (row.mma_shape(), of("d").as_deref()) {
        (Some([m, n, k]), Some([_, _, blocks])) => format!("{m}x{n}x{k}, {blocks} blocks"),
        (Some([m, n, k]), _) => format!("{m}x{n}x{k}{}", operand_notes(row)),
        _ => match row.operands.iter().find_map(InstructionOperand::tensor_memory_operand) {
            Some(tile) => {
                let copies = if tile.copies.is_empty() {
                    String::new()
                } else {
                    format!(", {} copies", tile.copy_row_offsets().len())
                };
                format!("{} rows of {} columns{copies}", 1u64 << tile.layout.in_bits(Dim::ROW), tile.columns())
            }
            None => "unknown".to_owned(),
        },
    }
}

/// Returns the shape of a bulk copy or prefetch as text; `None` for other instructions.
fn bulk_shape(row: &Instruction) -> Option<String> {
    row.operands.iter().find_map(|operand| match operand {
        InstructionOperand::Box(operand) => {
            Some(format!("boxes of {} axes, up to {} along each", operand.rank, operand.most))
        }
        InstructionOperand::Block(block) => {
            Some(format!("{} rows of {} columns of {} bits", block.rows, block.columns, block.element_bits))
        }
        InstructionOperand::BulkBytes { granularity } => Some(format!("spans of multiples of {granularity} bytes")),
        _ => None,
    })
}
