//! Shows the lane and register of each element of a layout.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;

use clap::Args;
use serde_json::{Map, Value as Json, json};

use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout, layout_to_json};

use crate::failure::CommandError;
use crate::input::ShownLayout;
use crate::notation::LayoutNotation;
use crate::text_table::new_table;
use crate::{GlobalOptions, input};

use super::values::{self, ValuesForm};

/// Options of `tilewright layout` that show a layout.
#[derive(Debug, Args)]
#[group(id = "shown_layout")]
pub struct Options {
    /// The layout: `#ttg.blocked<{...}>`, its JSON form, a linear layout's JSON, CuTe's `((4,8),2):((16,1),8)`, or a
    /// task mapping such as `repeat(4, 1) * spatial(16, 8)`.
    layout: String,
    /// The tensor's shape, as 16x16.
    #[arg(long, value_name = "SHAPE")]
    shape: String,
    /// Look layout families up in this target's plugin only.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Print the bases as JSON.
    #[arg(long)]
    json: bool,
    /// Print the layout in this notation.
    #[arg(long = "as", value_name = "NOTATION", conflicts_with = "json")]
    notation: Option<LayoutNotation>,
}

impl Options {
    /// The requested form of the output.
    fn form(&self) -> ValuesForm {
        match self.notation {
            _ if self.json => ValuesForm::Json,
            Some(notation) => ValuesForm::Notation(notation),
            None => ValuesForm::Table,
        }
    }
}

/// Max rows, and max columns, of a printed table.
pub(super) const MOST: u64 = 64;

/// Max log2 of the number of positions or elements that a printed table shows.
pub(super) const MOST_BITS: u32 = 20;

/// Shows the layout.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let (layout, target) = (&options.layout, options.target.as_deref());
    let (request, layout) = match input::parse_shown_layout(&session, "LAYOUT", layout, target, &options.shape)? {
        ShownLayout::Layout(request, layout) => (request, layout),
        ShownLayout::Values(layout, reason) => return values::print_values(options.form(), &layout, &reason),
    };
    let mut out = std::io::stdout().lock();
    if let Some(notation) = options.notation {
        let attribute_syntaxes = session.attribute_syntaxes(options.target.as_deref())?;
        writeln!(out, "{}", notation.print_layout(&request, &layout, &attribute_syntaxes)?)?;
        return Ok(());
    }
    if options.json {
        writeln!(out, "{}", any_layout_to_json(&layout))?;
        return Ok(());
    }
    writeln!(out, "{}\n", layout.linear())?;
    writeln!(out, "{}", drawn(&layout))?;
    Ok(())
}

/// Max elements of a padded layout whose physical offsets are listed.
const MOST_OFFSETS: u64 = 4096;

/// Converts a layout to JSON: its bases; for a memory layout also alignment and padding.
pub fn any_layout_to_json(layout: &Layout) -> Json {
    let mut answer = match layout_to_json(layout.linear()) {
        Json::Object(map) => map,
        other => return other,
    };
    if let Layout::Memory(memory) = layout {
        if let Some(alignment) = memory.alignment {
            answer.insert("alignment".to_owned(), json!(alignment));
        }
        if !memory.padding.is_empty() {
            padding_answer(memory, &mut answer);
        }
    }
    Json::Object(answer)
}

fn padding_answer(memory: &MemoryLayout, answer: &mut Map<String, Json>) {
    let linear = &memory.linear;
    let elements = 1u64 << linear.in_bits(Dim::OFFSET).min(63);
    let listed = (0..elements.min(MOST_OFFSETS)).map(|offset| {
        let coordinate: Vec<_> = linear.outs().unpack(linear.apply_packed(offset)).map(|(_, c)| c).collect();
        json!([offset, coordinate, memory.physical_offset(offset)])
    });
    answer.insert("physical_offsets".to_owned(), listed.collect());
    answer.insert("allocated_elements".to_owned(), json!(memory.allocated_elements()));
}

/// Draws a layout as a table with a cell for each tensor element.
fn drawn(layout: &Layout) -> String {
    let bits = layout.linear().ins().total_bits().max(layout.linear().outs().total_bits());
    if bits > MOST_BITS {
        return format!("not drawn: 2^{bits} positions, and at most 2^{MOST_BITS} are");
    }
    match layout {
        Layout::Distributed(linear) => format!("{}\n{}", key_of_positions(linear), grid(linear, &positions(linear))),
        Layout::Memory(memory) => format!("offset\n{}", grid(&memory.linear, &offsets(memory))),
        Layout::TensorMemory(linear) => format!("row:col\n{}", grid(linear, &tensor_memory(linear))),
    }
}

fn key_of_positions(linear: &LinearLayout) -> &'static str {
    match (linear.in_bits(Dim::WARP) > 0, linear.in_bits(Dim::BLOCK) > 0) {
        (_, true) => "block/warp/lane:register, copies after commas",
        (true, false) => "warp/lane:register, copies after commas",
        (false, false) => "lane:register, copies after commas",
    }
}

/// Returns the hardware positions of a distributed layout by the index of the element that each holds.
fn positions(linear: &LinearLayout) -> BTreeMap<u64, Vec<String>> {
    let mut cells: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for input in 0..1u64 << linear.ins().total_bits() {
        let at = |dim| linear.ins().coordinate(input, dim);
        let mut position = String::new();
        if linear.in_bits(Dim::BLOCK) > 0 {
            position += &format!("{}/", at(Dim::BLOCK));
        }
        if linear.in_bits(Dim::WARP) > 0 || linear.in_bits(Dim::BLOCK) > 0 {
            position += &format!("{}/", at(Dim::WARP));
        }
        position += &format!("{}:{}", at(Dim::LANE), at(Dim::REGISTER));
        cells.entry(linear.apply_packed(input)).or_default().push(position);
    }
    cells
}

fn offsets(memory: &MemoryLayout) -> BTreeMap<u64, Vec<String>> {
    let linear = &memory.linear;
    let mut cells: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for input in 0..1u64 << linear.ins().total_bits() {
        let offset = memory.physical_offset(linear.ins().coordinate(input, Dim::OFFSET)).to_string();
        let position = match linear.in_bits(Dim::BLOCK) {
            0 => offset,
            _ => format!("{}/{offset}", linear.ins().coordinate(input, Dim::BLOCK)),
        };
        cells.entry(linear.apply_packed(input)).or_default().push(position);
    }
    cells
}

fn tensor_memory(linear: &LinearLayout) -> BTreeMap<u64, Vec<String>> {
    let mut cells: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for input in 0..1u64 << linear.ins().total_bits() {
        let at = |dim| linear.ins().coordinate(input, dim);
        let position = format!("{}:{}", at(Dim::ROW), at(Dim::COL));
        cells.entry(linear.apply_packed(input)).or_default().push(position);
    }
    cells
}

/// Draws cells in tables of the last two axes, one for each index of the earlier axes.
fn grid(linear: &LinearLayout, cells: &BTreeMap<u64, Vec<String>>) -> String {
    let mut axes: Vec<(Dim, u64)> = linear.outs().iter().map(|(dim, bits)| (dim, 1u64 << bits)).collect();
    axes.sort();
    grid_of_axes(&axes, &|coordinates| {
        let named: Vec<_> = axes.iter().zip(coordinates).map(|(&(dim, _), &at)| (dim, at)).collect();
        let element = linear.outs().pack(&named).ok();
        element.and_then(|element| cells.get(&element)).map_or_else(|| "-".to_owned(), |entries| entries.join(","))
    })
}

/// Draws a cell for each coordinate in tables of the last two axes, one for each index of the earlier axes. `cell` gives
/// the text at a coordinate along each axis.
pub(super) fn grid_of_axes(axes: &[(impl Display, u64)], cell: &dyn Fn(&[u64]) -> String) -> String {
    let sizes: Vec<u64> = axes.iter().map(|&(_, size)| size).collect();
    let (outer, plane_sizes) = sizes.split_at(sizes.len().saturating_sub(2));
    let (rows, columns) = match *plane_sizes {
        [rows, columns] => (Some(rows), columns),
        [columns] => (None, columns),
        _ => (None, 1),
    };
    let mut text = String::new();
    for plane in 0..outer.iter().product() {
        let mut fixed = vec![0; outer.len()];
        let mut rest: u64 = plane;
        for (index, size) in fixed.iter_mut().zip(outer).rev() {
            *index = rest % size;
            rest /= size;
        }
        if !fixed.is_empty() {
            let names: Vec<_> = axes.iter().zip(&fixed).map(|((name, _), index)| format!("{name} = {index}")).collect();
            text += &format!("{}\n", names.join(", "));
        }
        let at = |row: u64, column: u64| {
            let in_plane = if rows.is_some() { vec![row, column] } else { vec![column] };
            cell(&[&fixed[..], &in_plane[..plane_sizes.len()]].concat())
        };
        text += &page(rows.unwrap_or(1), columns, &at);
        text += "\n";
    }
    text
}

/// Draws one table of `row_count` rows and `column_count` columns; `cell` gives the text at a row and a column.
fn page(row_count: u64, column_count: u64, cell: &dyn Fn(u64, u64) -> String) -> String {
    let shown_columns = column_count.min(MOST);
    let header: Vec<_> = std::iter::once(String::new()).chain((0..shown_columns).map(|c| c.to_string())).collect();
    let mut table = new_table(header, 0..0);
    for row in 0..row_count.min(MOST) {
        table.add_row(std::iter::once(row.to_string()).chain((0..shown_columns).map(|column| cell(row, column))));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    if row_count > MOST || column_count > MOST {
        text += &format!("(the first {MOST} rows and columns of {row_count} x {column_count})\n");
    }
    text
}
