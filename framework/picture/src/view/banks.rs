//! Draws a memory layout over the banks of a target: grids of elements, and the matrix of address bits.
//!
//! For a layout over several blocks, the memory grid shows block 0.

use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::BankTableEntry;

use super::access::check_element;
use super::draw_f2_matrix_grid;
use super::runs::{Values, one_axis_counts_up, range_of_elements, runs};
use super::stacked::StackedPlane;
use crate::error::check_size;
use crate::text::{from_to, join};
use crate::{Cell, CellColour, EmphasisColour, Grid, GridAxis, PictureError, TextTable};

/// A memory layout with the target's banks, prepared for drawing.
#[derive(Debug, Clone)]
pub(super) struct BankDrawing<'a> {
    memory: &'a MemoryLayout,
    element_bits: u32,
    row: &'a BankTableEntry,
    /// Number of consecutive elements that share a colour: those of one bank word, or of a lane's access if that is
    /// wider.
    group: u64,
    plane: StackedPlane<'a>,
}

/// An element stored in memory.
struct Stored {
    /// The element's packed tensor coordinates.
    element: u64,
    /// Index of the block whose memory has the element.
    block: u64,
    /// The element's physical offset, in elements.
    offset: u64,
}

impl<'a> BankDrawing<'a> {
    /// Prepares the drawing of a memory layout on the banks of the bank model `row`. Elements within `together` bytes
    /// (at least a bank word, at most a wavefront) share a colour.
    pub fn new(
        memory: &'a MemoryLayout,
        element_bits: u32,
        row: &'a BankTableEntry,
        together: u64,
    ) -> Result<Self, PictureError> {
        check_element(element_bits)?;
        check_size("the memory", memory.linear.ins().total_bits())?;
        // The physical size is checked too, because padding may be much larger than the tensor.
        check_size("the memory with its padding", memory.allocated_elements().max(4).ilog2() - 2)?;
        let bytes = together.clamp(u64::from(row.bank_bytes), row.wavefront_bytes());
        let group = (bytes * 8 / u64::from(element_bits)).max(1);
        Ok(Self { memory, element_bits, row, group, plane: StackedPlane::new(memory.linear.outs())? })
    }

    /// Returns all elements of all blocks.
    fn all(&self) -> impl Iterator<Item = Stored> + '_ {
        let linear = &self.memory.linear;
        (0..1u64 << linear.ins().total_bits()).map(move |input| {
            let offset = self.memory.physical_offset(linear.ins().coordinate(input, Dim::OFFSET));
            let block = linear.ins().coordinate(input, Dim::BLOCK);
            Stored { element: linear.apply_packed(input), block, offset }
        })
    }

    /// Returns the byte address of the element at an offset in elements.
    fn byte(&self, offset: u64) -> u64 {
        offset * u64::from(self.element_bits) / 8
    }

    /// Returns the bank that has the first byte of the element at an offset.
    fn bank(&self, offset: u64) -> u64 {
        self.row.bank_of_address(self.byte(offset))
    }

    /// Draws the elements in memory order; a row has the bytes that one wavefront can serve.
    pub fn draw_memory_grid(&self) -> Grid {
        let across = (self.row.wavefront_bytes() * 8 / u64::from(self.element_bits)).max(1);
        let down = self.memory.allocated_elements().div_ceil(across);
        let banks = |start: u64| from_to(self.bank(start), self.row.bank_of_address(self.byte(start + self.group) - 1));
        let starts = (0..across).step_by(self.group as usize).map(|start| (start as usize, banks(start)));
        let rows = GridAxis::new("byte", (0..down).map(|row| self.byte(row * across)));
        let columns = GridAxis::without_headings("bank", across as usize).with_bands(starts);
        let row_and_column = |offset: u64| ((offset / across) as usize, (offset % across) as usize);
        let mut grid = Grid::new(rows, columns);
        for offset in 0..self.memory.allocated_elements() {
            let padding = Cell::new("pad").with_tooltip_line(format!("byte {}: padding", self.byte(offset)));
            grid.set(
                row_and_column(offset).0,
                row_and_column(offset).1,
                padding.with_fill(CellColour::from_tone(EmphasisColour::Quiet)),
            );
        }
        let mut elements_by_cell = Values::new();
        for stored in self.all().filter(|stored| stored.block == 0) {
            let (row, column) = row_and_column(stored.offset);
            elements_by_cell
                .insert((row, column), (column as u64, self.plane.axes.element_coordinates(stored.element)));
            grid.set(row, column, self.cell(&stored, self.plane.axes.element_name(stored.element)));
        }
        let follows = |first: &[u64], last: &[u64], column: u64, next: &[u64]| {
            !column.is_multiple_of(self.group) && one_axis_counts_up(first, last, next)
        };
        grid.runs = runs(
            &elements_by_cell,
            |(_, first), (_, last), (column, next)| follows(first, last, *column, next),
            |(_, first), (_, last)| range_of_elements(first, last),
        );
        grid
    }

    /// Draws the tensor, with the offset and bank of each element.
    pub fn draw_tensor_grid(&self) -> Grid {
        let (rows, columns) = self.plane.grid_axes();
        let mut grid = Grid::new(rows, columns);
        let mut bank_values = Values::new();
        for stored in self.all() {
            let (row, column) = self.plane.position_of_element(stored.element);
            let (offset, bank) = (stored.offset, self.bank(stored.offset));
            bank_values.insert((row, column), (offset, bank));
            grid.set(row, column, self.cell(&stored, offset.to_string()).with_line(format!("b{bank}")));
        }
        grid.runs = runs(
            &bank_values,
            |_, last, next| next.0 == last.0 + 1 && !next.0.is_multiple_of(self.group),
            |first, last| format!("{} b{}", from_to(first.0, last.0), from_to(first.1, last.1)),
        );
        grid
    }

    fn fill(&self, offset: u64) -> CellColour {
        let groups = (self.row.wavefront_bytes() * 8 / u64::from(self.element_bits) / self.group).max(1);
        CellColour::from_index(offset / self.group % groups, groups)
    }

    fn cell(&self, stored: &Stored, text: String) -> Cell {
        let bank = self.bank(stored.offset);
        let link = self.plane.axes.element_link(stored.element);
        let cell = Cell::new(text)
            .with_fill(self.fill(stored.offset))
            .with_link(link.clone())
            .with_related_group(format!("bank {bank}"))
            .with_tooltip_line(link)
            .with_tooltip_line(format!("offset {}, byte {}, bank {bank}", stored.offset, self.byte(stored.offset)));
        match self.memory.linear.in_bits(Dim::BLOCK) {
            0 => cell,
            _ => cell.with_tooltip_line(format!("block {}", stored.block)),
        }
    }

    /// Returns the linear map from tensor coordinates to the memory offset; an error if some element is not in memory.
    fn address(&self) -> Result<LinearLayout, PictureError> {
        let inverse = self.memory.linear.pseudoinvert()?;
        let mut order: Vec<Dim> = inverse.ins().dims().collect();
        order.sort();
        order.reverse();
        Ok(inverse.transpose_ins(&order)?)
    }

    /// Returns the kind of an offset bit: `in bank` selects a byte of a bank word, `bank` a bank, `row` a row of all
    /// banks. Padding is not considered.
    fn bit_kind(&self, bit: u32) -> &'static str {
        let byte = u64::from(self.element_bits) << bit;
        let word = u64::from(self.row.bank_bytes) * 8;
        match () {
            () if byte < word => "in bank",
            () if byte < self.row.wavefront_bytes() * 8 => "bank",
            () => "row",
        }
    }

    /// Draws the matrix from bits of the tensor coordinates to offset bits.
    pub fn draw_address_matrix(&self) -> Result<Grid, PictureError> {
        let address = self.address()?;
        let coordinates: Vec<Dim> = address.ins().dims().collect();
        let mut grid = draw_f2_matrix_grid(&address.sublayout(&coordinates, &[Dim::OFFSET])?);
        grid.row_axis.name = "offset".to_owned();
        grid.column_axis.name = "coordinate".to_owned();
        let bit_kinds: Vec<_> = (0..self.memory.linear.in_bits(Dim::OFFSET)).map(|bit| self.bit_kind(bit)).collect();
        let starts = (0..bit_kinds.len()).filter(|&bit| bit == 0 || bit_kinds[bit] != bit_kinds[bit - 1]);
        grid.row_axis = grid.row_axis.with_bands(starts.map(|bit| (bit, bit_kinds[bit])));
        Ok(grid)
    }

    /// Returns the matrix as a table: each offset bit is an XOR of bits of the tensor coordinates.
    pub fn address_matrix_table(&self) -> Result<TextTable, PictureError> {
        let address = self.address()?;
        let masks = address.output_masks();
        let bit_masks = masks.iter().filter(|(dim, _)| *dim == Dim::OFFSET).flat_map(|(_, masks)| masks);
        let row = |(bit, mask): (u32, &u64)| {
            let terms = address.ins().unpack(*mask).flat_map(|(dim, coordinate)| {
                let bits = (0..64).filter(move |bit| coordinate >> bit & 1 == 1);
                bits.map(move |bit| format!("{dim} bit {}", 1u64 << bit))
            });
            vec![(1u64 << bit).to_string(), self.bit_kind(bit).to_owned(), join(terms, " xor ")]
        };
        Ok(TextTable::new(["offset", "is", "XOR of"], (0..).zip(bit_masks).map(row).collect()))
    }

    /// Describes the layout's padding; `None` without padding.
    pub fn describe_padding(&self) -> Option<String> {
        let pairs = self.memory.padding.iter().map(|p| format!("{} elements after every {}", p.padding, p.interval));
        (!self.memory.padding.is_empty()).then(|| format!("padding: {}", join(pairs, ", ")))
    }
}
