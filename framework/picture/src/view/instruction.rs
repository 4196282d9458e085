//! Draws the operands of an instruction: for an MMA, A at the left, B on top and the accumulator at the lower right.

use std::collections::BTreeMap;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Instruction, InstructionOperand};

use crate::error::check_size;
use crate::text::ranges;
use crate::{Cell, CellColour, Grid, GridAxis, Panel, Picture, PictureError};

/// Max number of the independent matrix products of one MMA instruction (blocks) that are drawn side by side.
const ABREAST: usize = 4;

/// Draws the operands of an instruction: for an MMA one grid of A, B and the accumulator per independent block (some
/// MMA instructions multiply several pairs of matrices), other operands in separate grids. A cell shows `T` lane `:`
/// register, with registers counted in elements.
///
/// # Errors
/// [`PictureError`] if an operand is too large, or no operand can be drawn.
pub fn draw_instruction(row: &Instruction) -> Result<Picture, PictureError> {
    let mut operands = Vec::new();
    for operand in &row.operands {
        operands.extend(RegisterOperand::of(row, operand)?);
    }
    let mut picture = Picture::new(row.name.clone());
    picture.caption.push("T3:1 is lane 3, register 1, counted in elements; colours are lanes".to_owned());
    picture.caption.push(row.source.clone());
    let role = |name: &str| operands.iter().find(|operand_view| operand_view.role == name);
    let mut drawn: Vec<&str> = Vec::new();
    if let (Some(a), Some(b), Some(d)) = (role("a"), role("b"), role("d")) {
        let result = role("c").filter(|c| c.layout == d.layout);
        drawn.extend(["a", "b", "d"]);
        drawn.extend(result.map(|c| c.role));
        add_tableaux(&mut picture, &MmaOperands { a, b, d, c: result })?;
    }
    picture.start_row();
    for operand_view in operands.iter().filter(|operand_view| !drawn.contains(&operand_view.role)) {
        picture.add_panel(Panel::grid(operand_view.description(), operand_view.grid()));
    }
    for operand in &row.operands {
        if let InstructionOperand::Access { data, address, alignment } = operand {
            check_size("the access", data.ins().total_bits())?;
            let bytes = operands.first().map_or(1, |operand_view| u64::from(operand_view.bits / 8).max(1));
            let grid = segments(data, address, bytes);
            picture.add_panel(Panel::grid("shared memory", grid).with_caption_line(format!(
                "rows are segments, each aligned to {alignment} bytes, at a lane's address; \
                 in each cell the lane and register of the bytes, registers of 4 bytes"
            )));
        }
    }
    for tile in row.operands.iter().filter_map(InstructionOperand::tensor_memory_operand) {
        picture.add_panel(super::tensor_tile::panel(tile)?);
    }
    match picture.panels().count() {
        0 => Err(PictureError::not_drawable(
            format!("instruction {}", row.name),
            "none of its operands is in registers or memory",
            "draw one that has such operands",
        )),
        _ => Ok(picture),
    }
}

/// An operand of an instruction in registers, prepared for drawing.
struct RegisterOperand<'a> {
    role: &'a str,
    element: &'a str,
    bits: u32,
    layout: &'a LinearLayout,
    sizes: [usize; 3],
    /// For each element, by its packed coordinates, the (lane, register) positions that hold it.
    positions_by_element: BTreeMap<u64, Vec<(u64, u64)>>,
}

/// The operands of an MMA in registers.
struct MmaOperands<'a> {
    a: &'a RegisterOperand<'a>,
    b: &'a RegisterOperand<'a>,
    d: &'a RegisterOperand<'a>,
    /// Operand C if it has the same layout as D and is drawn with it; else `None`.
    c: Option<&'a RegisterOperand<'a>>,
}

impl<'a> RegisterOperand<'a> {
    fn of(row: &Instruction, operand: &'a InstructionOperand) -> Result<Option<Self>, PictureError> {
        let InstructionOperand::Register { role, element, bits, layout } = operand else { return Ok(None) };
        check_size(&format!("operand {role}"), layout.ins().total_bits().max(layout.outs().total_bits()))?;
        let mut positions_by_element: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for input in 0..1u64 << layout.ins().total_bits() {
            let at = |dim| layout.ins().coordinate(input, dim);
            // Lanes are counted over all warps that issue the instruction together.
            let lane = at(Dim::WARP) << layout.in_bits(Dim::LANE) | at(Dim::LANE);
            positions_by_element.entry(layout.apply_packed(input)).or_default().push((lane, at(Dim::REGISTER)));
        }
        let mut sizes = [0, 1, 2].map(|axis| 1 << layout.out_bits(Dim::tensor(axis)));
        let within = match (row.mma_shape(), role.as_str()) {
            (Some([m, n, _]), "c" | "d") => Some([m, n]),
            (Some([m, _, k]), "a") => Some([m, k]),
            (Some([_, n, k]), "b") => Some([k, n]),
            _ => None,
        };
        for (size, within) in sizes.iter_mut().zip(within.into_iter().flatten().map(|size| size as usize)) {
            // The shape of the MMA may be smaller than its register tile, which is the next power of two.
            if *size == within.next_power_of_two() {
                *size = within;
            }
        }
        Ok(Some(Self { role, element, bits: *bits, layout, sizes, positions_by_element }))
    }

    /// Returns the operand's name, size and type, such as `A 16x16 f16`.
    fn description(&self) -> String {
        format!("{} {}x{} {}", self.role.to_uppercase(), self.sizes[0], self.sizes[1], self.element)
    }

    /// Returns the cell of the operand's element at a row and column; `block` is the index among the matrices that the
    /// MMA multiplies independently.
    fn cell(&self, row: usize, column: usize, block: usize) -> Cell {
        let outs = self.layout.outs();
        let coordinates = [row, column, block].into_iter().enumerate();
        let coordinates =
            coordinates.map(|(axis, at)| (Dim::tensor(axis), at as u64)).filter(|&(dim, _)| outs.contains(dim));
        let element = outs.pack(&coordinates.collect::<Vec<_>>()).unwrap_or(0);
        let positions = self.positions_by_element.get(&element).map_or(&[][..], Vec::as_slice);
        let Some(&(lane, register)) = positions.first() else { return Cell::new("-") };
        let lanes: Vec<u64> =
            positions.iter().filter(|position| position.1 == register).map(|position| position.0).collect();
        let text = match lanes.as_slice() {
            [_] => format!("T{lane}:{register}"),
            [_, other] => format!("T{lane},{other}:{register}"),
            many => format!("T{lane}:{register} x{}", many.len()),
        };
        let role = self.role.to_uppercase();
        Cell::new(text)
            .with_fill(CellColour::from_index(
                lane,
                1 << (self.layout.in_bits(Dim::LANE) + self.layout.in_bits(Dim::WARP)),
            ))
            .with_links(lanes.iter().map(|lane| format!("lane {lane}")))
            .with_tooltip_line(format!("{role} {row},{column}"))
            .with_tooltip_line(format!("lane {} register {register}", ranges(&lanes)))
    }

    /// Draws the operand in a grid; the matrices that the MMA multiplies independently (blocks) are below each other.
    fn grid(&self) -> Grid {
        let [rows, columns, blocks] = self.sizes;
        let bands = (0..blocks).filter(|_| blocks > 1).map(|block| (block * rows, format!("block {block}")));
        let row_axis = GridAxis::new("dim0", (0..rows * blocks).map(|row| row % rows)).with_bands(bands);
        Grid::from_fn(row_axis, GridAxis::new("dim1", 0..columns), |row, column| {
            self.cell(row % rows, column, row / rows)
        })
    }
}

/// Adds a grid of A, B and the accumulator for each pair of matrices that the MMA multiplies independently (block).
fn add_tableaux(picture: &mut Picture, mma: &MmaOperands<'_>) -> Result<(), PictureError> {
    let MmaOperands { a, b, d, .. } = mma;
    let blocks = [a.sizes[2], b.sizes[2], d.sizes[2]].into_iter().max().unwrap_or(1);
    if a.sizes[1] != b.sizes[0] || a.sizes[0] != d.sizes[0] || b.sizes[1] != d.sizes[1] {
        let reason = format!("{}, {} and {} do not form an MMA", a.description(), b.description(), d.description());
        return Err(PictureError::not_drawable("the tableau", reason, "correct the instruction's description"));
    }
    let result = match mma.c {
        Some(c) if c.element == d.element => format!("C and {}", d.description()),
        Some(c) => format!("C {} and {}", c.element, d.description()),
        None => d.description(),
    };
    picture.caption.push(format!(
        "{} at the left, {} on top, {result} at the lower right",
        a.description(),
        b.description()
    ));
    for block in 0..blocks {
        if block > 0 && block % ABREAST == 0 {
            picture.start_row();
        }
        let title = if blocks > 1 { format!("block {block}") } else { String::new() };
        picture.add_panel(Panel::grid(title, mma.tableau(block)));
    }
    Ok(())
}

impl MmaOperands<'_> {
    /// Draws the operands of the MMA in one grid: B at the upper right, A at the lower left, the accumulator at the
    /// lower right; the upper left corner is empty. `block` is the index among the matrices that the MMA multiplies
    /// independently.
    fn tableau(&self, block: usize) -> Grid {
        let (m, n, k) = (self.d.sizes[0], self.d.sizes[1], self.a.sizes[1]);
        let axis = |name: &str, size: usize| {
            let headings = (0..k + 1).map(|_| String::new()).chain((0..size).map(|index| index.to_string()));
            GridAxis::new("", headings).with_bands([(0, ""), (k + 1, name)])
        };
        let mut grid = Grid::from_fn(axis("m", m), axis("n", n), |row, column| {
            match (row.checked_sub(k + 1), column.checked_sub(k + 1)) {
                (Some(m), Some(n)) => {
                    self.d.cell(m, n, block).with_related_group(format!("m {m}")).with_related_group(format!("n {n}"))
                }
                (Some(m), None) if column < k => self.a.cell(m, column, block).with_related_group(format!("m {m}")),
                (None, Some(n)) if row < k => self.b.cell(row, n, block).with_related_group(format!("n {n}")),
                // The row and the column between the operands show the indices along K.
                (None, None) if row == k && column == k => Cell::placeholder().with_line("k"),
                (None, None) if row == k || column == k => Cell::placeholder().with_line(row.min(column).to_string()),
                _ => Cell::placeholder(),
            }
        });
        grid.in_full = true;
        grid
    }
}

/// Draws the slots (contiguous shared memory at one address) that a move instruction accesses, with the lane and
/// register of each byte.
fn segments(data: &LinearLayout, address: &LinearLayout, bytes: u64) -> Grid {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let (rows, columns) = (1u64 << data.out_bits(segment), (1u64 << data.out_bits(byte)) / bytes);
    let heading = |row: u64| {
        let lanes = (0..1u64 << address.in_bits(Dim::LANE)).filter(|&lane| address.apply_packed(lane) == row);
        format!("{row} at T{}", ranges(&lanes.collect::<Vec<_>>()))
    };
    let row_axis = GridAxis::new("slot", (0..rows).map(heading));
    let mut grid = Grid::new(row_axis, GridAxis::new("byte", (0..columns).map(|column| column * bytes)));
    for input in 0..1u64 << data.ins().total_bits() {
        let at = |dim| data.ins().coordinate(input, dim);
        let to = data.apply_packed(input);
        let (row, first) = (data.outs().coordinate(to, segment), data.outs().coordinate(to, byte));
        if !first.is_multiple_of(bytes) {
            continue;
        }
        let (lane, register) = (at(Dim::LANE), at(Dim::REGISTER));
        let cell = Cell::new(format!("T{lane}:{register}.{}", at(byte)))
            .with_fill(CellColour::from_index(lane, 1 << data.in_bits(Dim::LANE)))
            .with_link(format!("lane {lane}"))
            .with_tooltip_line(format!("slot {row}, bytes {first} to {}", first + bytes - 1))
            .with_tooltip_line(format!("lane {lane} register {register} byte {}", at(byte)));
        grid.set(row as usize, (first / bytes) as usize, cell);
    }
    grid
}
