//! Shows the lane and register of each element of a layout.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use serde_json::{Map, Value as Json, json};

use tilewright::LayoutRequest;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout, layout_to_json};

use crate::failure::CommandError;
use crate::notation::LayoutNotation;
use crate::text_table::new_table;
use crate::{GlobalOptions, input};

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

/// Max rows, and max columns, of a printed table.
const MOST: u64 = 64;

/// Max log2 of the number of positions or elements that a printed table shows.
const MOST_BITS: u32 = 20;

/// Shows the layout.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let shape = input::parse_shape(&options.shape)?;
    let request = LayoutRequest::from_text(&options.layout)
        .map_err(|error| CommandError::from_layout_error("LAYOUT", &options.layout, error))?;
    let layout = request.resolve_layout(&session, options.target.as_deref(), &shape)?;
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
    let columns = axes.pop();
    let rows = axes.pop();
    let planes: u64 = axes.iter().map(|&(_, size)| size).product();
    let mut text = String::new();
    for plane in 0..planes {
        let mut fixed = Vec::new();
        let mut rest = plane;
        for &(dim, size) in axes.iter().rev() {
            fixed.push((dim, rest % size));
            rest /= size;
        }
        fixed.reverse();
        if !fixed.is_empty() {
            let names: Vec<_> = fixed.iter().map(|(dim, index)| format!("{dim} = {index}")).collect();
            text += &format!("{}\n", names.join(", "));
        }
        text += &page(linear, cells, &fixed, rows, columns);
        text += "\n";
    }
    text
}

fn page(
    linear: &LinearLayout,
    cells: &BTreeMap<u64, Vec<String>>,
    fixed: &[(Dim, u64)],
    rows: Option<(Dim, u64)>,
    columns: Option<(Dim, u64)>,
) -> String {
    let (row_count, column_count) = (rows.map_or(1, |r| r.1), columns.map_or(1, |c| c.1));
    let shown_columns = column_count.min(MOST);
    let header: Vec<_> = std::iter::once(String::new()).chain((0..shown_columns).map(|c| c.to_string())).collect();
    let mut table = new_table(header, 0..0);
    for row in 0..row_count.min(MOST) {
        let cell = |column: u64| {
            let mut coordinates = fixed.to_vec();
            coordinates.extend(rows.map(|(dim, _)| (dim, row)));
            coordinates.extend(columns.map(|(dim, _)| (dim, column)));
            let element = linear.outs().pack(&coordinates).ok();
            element.and_then(|element| cells.get(&element)).map_or_else(|| "-".to_owned(), |entries| entries.join(","))
        };
        table.add_row(std::iter::once(row.to_string()).chain((0..shown_columns).map(cell)));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    if row_count > MOST || column_count > MOST {
        text += &format!("(the first {MOST} rows and columns of {row_count} x {column_count})\n");
    }
    text
}
