//! An instruction's operands: the tableau of a product, A at the left, B on top, the result at the
//! lower right; and what a move carries between registers and memory.

use std::collections::BTreeMap;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Instruction, Operand};

use crate::plane::small_enough;
use crate::runs::ranges;
use crate::{Band, Cell, Fill, Grid, Panel, Picture, PictureError};

/// Blocks of a product that are drawn side by side.
const ABREAST: usize = 4;

/// The picture of an instruction: of a product the tableau of its operands, for each independent block
/// one; every other operand by itself. Cells say `T` lane `:` register, registers counted in elements.
///
/// # Errors
/// [`PictureError`]: an operand that is too large, or that no picture shows.
pub fn instruction(row: &Instruction) -> Result<Picture, PictureError> {
    let mut operands = Vec::new();
    for operand in &row.operands {
        operands.extend(Part::of(row, operand)?);
    }
    let mut picture = Picture::new(row.name.clone());
    picture.caption.push("T3:1 is lane 3, register 1, counted in elements; colours are lanes".to_owned());
    picture.caption.push(row.source.clone());
    let role = |name: &str| operands.iter().find(|part| part.role == name);
    let mut drawn: Vec<&str> = Vec::new();
    if let (Some(a), Some(b), Some(d)) = (role("a"), role("b"), role("d")) {
        let result = role("c").filter(|c| c.layout == d.layout);
        drawn.extend(["a", "b", "d"]);
        drawn.extend(result.map(|c| c.role));
        products(&mut picture, &Product { a, b, d, c: result })?;
    }
    picture.start_row();
    for part in operands.iter().filter(|part| !drawn.contains(&part.role)) {
        picture.add(Panel::grid(part.said(), part.grid()));
    }
    for operand in &row.operands {
        if let Operand::Access { data, address, alignment } = operand {
            small_enough("the access", data.ins().bits())?;
            let bytes = operands.first().map_or(1, |part| u64::from(part.bits / 8).max(1));
            let grid = slots(data, address, bytes);
            picture.add(Panel::grid("shared memory", grid).caption(format!(
                "rows are slots, each {alignment} bytes aligned, at the address that a lane gives; in each cell who \
                 has the bytes, registers of 4 bytes"
            )));
        }
    }
    for tile in row.operands.iter().filter_map(Operand::tensor) {
        picture.add(super::tensor_tile::panel(tile)?);
    }
    match picture.panels().count() {
        0 => Err(PictureError::NotDrawable {
            what: format!("instruction {}", row.name),
            reason: "none of its operands lies in registers or in memory".to_owned(),
            remedy: "draw one that has such operands".to_owned(),
        }),
        _ => Ok(picture),
    }
}

/// An operand in registers.
struct Part<'a> {
    role: &'a str,
    element: &'a str,
    bits: u32,
    layout: &'a LinearLayout,
    sizes: [usize; 3],
    /// For each element, by its packed coordinate, the registers of lanes that hold it.
    held: BTreeMap<u64, Vec<(u64, u64)>>,
}

/// The operands of a product.
struct Product<'a> {
    a: &'a Part<'a>,
    b: &'a Part<'a>,
    d: &'a Part<'a>,
    /// The summand, where it lies as the result does.
    c: Option<&'a Part<'a>>,
}

impl<'a> Part<'a> {
    fn of(row: &Instruction, operand: &'a Operand) -> Result<Option<Self>, PictureError> {
        let Operand::Register { role, element, bits, layout } = operand else { return Ok(None) };
        small_enough(&format!("operand {role}"), layout.ins().bits().max(layout.outs().bits()))?;
        let mut held: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for input in 0..1u64 << layout.ins().bits() {
            let at = |dim| layout.ins().coordinate(input, dim);
            // Lanes are counted over the warps that issue the instruction together.
            let lane = at(Dim::WARP) << layout.in_bits(Dim::LANE) | at(Dim::LANE);
            held.entry(layout.apply_packed(input)).or_default().push((lane, at(Dim::REGISTER)));
        }
        let mut sizes = [0, 1, 2].map(|axis| 1 << layout.out_bits(Dim::tensor(axis)));
        let within = match (row.extent(), role.as_str()) {
            (Some([m, n, _]), "c" | "d") => Some([m, n]),
            (Some([m, _, k]), "a") => Some([m, k]),
            (Some([_, n, k]), "b") => Some([k, n]),
            _ => None,
        };
        for (size, within) in sizes.iter_mut().zip(within.into_iter().flatten().map(|size| size as usize)) {
            // A product need not be as large as the tile of its registers, which is the least that encloses it.
            if *size == within.next_power_of_two() {
                *size = within;
            }
        }
        Ok(Some(Self { role, element, bits: *bits, layout, sizes, held }))
    }

    fn size(&self, axis: usize) -> usize {
        self.sizes[axis]
    }

    /// `A 16x16 f16`.
    fn said(&self) -> String {
        format!("{} {}x{} {}", self.role.to_uppercase(), self.size(0), self.size(1), self.element)
    }

    /// The cell of an element of a block.
    fn cell(&self, row: usize, column: usize, block: usize) -> Cell {
        let place = [(Dim::tensor(0), row), (Dim::tensor(1), column), (Dim::tensor(2), block)];
        let place = place.iter().filter(|(dim, _)| self.layout.outs().contains(*dim));
        let place: Vec<_> = place.map(|&(dim, at)| (dim, at as u64)).collect();
        let element = self.layout.outs().pack(&place).unwrap_or(0);
        let holders = self.held.get(&element).map_or(&[][..], Vec::as_slice);
        let Some(&(lane, register)) = holders.first() else { return Cell::new("-") };
        let lanes: Vec<u64> = holders.iter().filter(|holder| holder.1 == register).map(|holder| holder.0).collect();
        let text = match lanes.as_slice() {
            [_] => format!("T{lane}:{register}"),
            [_, other] => format!("T{lane},{other}:{register}"),
            many => format!("T{lane}:{register} x{}", many.len()),
        };
        let role = self.role.to_uppercase();
        let mut cell = Cell::new(text)
            .fill(Fill::hue(lane, 1 << (self.layout.in_bits(Dim::LANE) + self.layout.in_bits(Dim::WARP))))
            .hover(format!("{role} {row},{column}"))
            .hover(format!("lane {} register {register}", ranges(&lanes)));
        cell.links = lanes.iter().map(|lane| format!("lane {lane}")).collect();
        cell
    }

    /// The operand by itself, its blocks below each other.
    fn grid(&self) -> Grid {
        let (rows, columns, blocks) = (self.size(0), self.size(1), self.size(2));
        let mut grid = Grid::new(rows * blocks, columns);
        (grid.row_axis, grid.column_axis) = ("dim0".to_owned(), "dim1".to_owned());
        grid.row_headings = (0..rows * blocks).map(|row| (row % rows).to_string()).collect();
        grid.column_headings = (0..columns).map(|column| column.to_string()).collect();
        if blocks > 1 {
            grid.row_bands = (0..blocks).map(|block| Band::new(block * rows, format!("block {block}"))).collect();
        }
        for row in 0..rows * blocks {
            for column in 0..columns {
                grid.set(row, column, self.cell(row % rows, column, row / rows));
            }
        }
        grid
    }
}

/// A tableau for each block.
fn products(picture: &mut Picture, product: &Product<'_>) -> Result<(), PictureError> {
    let Product { a, b, d, .. } = product;
    let blocks = [a.size(2), b.size(2), d.size(2)].into_iter().max().unwrap_or(1);
    if a.size(1) != b.size(0) || a.size(0) != d.size(0) || b.size(1) != d.size(1) {
        return Err(PictureError::NotDrawable {
            what: "the tableau".to_owned(),
            reason: format!("{}, {} and {} are no product", a.said(), b.said(), d.said()),
            remedy: "mend the instruction's row".to_owned(),
        });
    }
    let result = match product.c {
        Some(c) if c.element == d.element => format!("C and {}", d.said()),
        Some(c) => format!("C {} and {}", c.element, d.said()),
        None => d.said(),
    };
    picture.caption.push(format!("{} at the left, {} on top, {result} at the lower right", a.said(), b.said()));
    for block in 0..blocks {
        if block > 0 && block % ABREAST == 0 {
            picture.start_row();
        }
        let title = if blocks > 1 { format!("block {block}") } else { String::new() };
        picture.add(Panel::grid(title, product.tableau(block)));
    }
    Ok(())
}

impl Product<'_> {
    /// One grid: a blank corner, B at its right, A below it, and the result below B and beside A.
    fn tableau(&self, block: usize) -> Grid {
        let (m, n, k) = (self.d.size(0), self.d.size(1), self.a.size(1));
        let mut grid = Grid::new(k + 1 + m, k + 1 + n);
        grid.in_full = true;
        let beyond = |index: usize| if index > k { (index - k - 1).to_string() } else { String::new() };
        grid.row_headings = (0..k + 1 + m).map(beyond).collect();
        grid.column_headings = (0..k + 1 + n).map(beyond).collect();
        grid.row_bands = vec![Band::new(0, ""), Band::new(k + 1, "m")];
        grid.column_bands = vec![Band::new(0, ""), Band::new(k + 1, "n")];
        for row in 0..k + 1 {
            for column in 0..k + 1 {
                grid.set(row, column, Cell::absent());
            }
        }
        for index in 0..k + 1 {
            // The gap beside B and above A numbers K.
            let name = if index < k { index.to_string() } else { "k".to_owned() };
            grid.set(index, k, Cell::absent().line(name.clone()));
            grid.set(k, index, Cell::absent().line(name));
        }
        (0..m).for_each(|row| grid.set(k + 1 + row, k, Cell::absent()));
        (0..n).for_each(|column| grid.set(k, k + 1 + column, Cell::absent()));
        for inner in 0..k {
            (0..n).for_each(|column| {
                grid.set(inner, k + 1 + column, self.b.cell(inner, column, block).kin(format!("n {column}")));
            });
            (0..m).for_each(|row| grid.set(k + 1 + row, inner, self.a.cell(row, inner, block).kin(format!("m {row}"))));
        }
        for row in 0..m {
            for column in 0..n {
                let cell = self.d.cell(row, column, block).kin(format!("m {row}")).kin(format!("n {column}"));
                grid.set(k + 1 + row, k + 1 + column, cell);
            }
        }
        grid
    }
}

/// The slots of an access, each cell with the lane and the register that gets or gives the bytes.
fn slots(data: &LinearLayout, address: &LinearLayout, bytes: u64) -> Grid {
    let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
    let (rows, columns) = (1usize << data.out_bits(slot), (1u64 << data.out_bits(byte)) / bytes);
    let mut grid = Grid::new(rows, columns as usize);
    grid.row_axis = "slot".to_owned();
    grid.column_axis = "byte".to_owned();
    grid.column_headings = (0..columns).map(|column| (column * bytes).to_string()).collect();
    for row in 0..rows as u64 {
        let lanes = (0..1u64 << address.in_bits(Dim::LANE)).filter(|&lane| address.apply_packed(lane) == row);
        let lanes: Vec<u64> = lanes.collect();
        grid.row_headings.push(format!("{row} at T{}", ranges(&lanes)));
    }
    for input in 0..1u64 << data.ins().bits() {
        let at = |dim| data.ins().coordinate(input, dim);
        let to = data.apply_packed(input);
        let (row, first) = (data.outs().coordinate(to, slot), data.outs().coordinate(to, byte));
        if !first.is_multiple_of(bytes) {
            continue;
        }
        let (lane, register) = (at(Dim::LANE), at(Dim::REGISTER));
        let cell = Cell::new(format!("T{lane}:{register}.{}", at(byte)))
            .fill(Fill::hue(lane, 1 << data.in_bits(Dim::LANE)))
            .link(format!("lane {lane}"))
            .hover(format!("slot {row}, bytes {first} to {}", first + bytes - 1))
            .hover(format!("lane {lane} register {register} byte {}", at(byte)));
        grid.set(row as usize, (first / bytes) as usize, cell);
    }
    grid
}
