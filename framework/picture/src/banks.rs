//! A memory layout on the banks of a target: its grids, and the bits of its addresses.
//!
//! Drawn for block 0 where a layout spans several blocks.

use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::BankRow;

use crate::access::sound_element;
use crate::plane::{Plane, small_enough};
use crate::runs::{Runs, from_to, one_axis_counts_up, range_of_elements};
use crate::view::{element_link, matrix_grid};
use crate::{Band, Cell, Fill, Grid, PictureError, Table, Tone};

/// Elements in the banks of a memory.
#[derive(Debug, Clone)]
pub(crate) struct Banked<'a> {
    memory: &'a MemoryLayout,
    element_bits: u32,
    row: &'a BankRow,
    /// Elements that have one colour: those of a bank, or of an access that is wider.
    group: u64,
    plane: Plane<'a>,
}

/// An element in memory.
struct Stored {
    /// Its packed coordinate.
    element: u64,
    /// Its block.
    block: u64,
    /// Its physical offset in elements.
    offset: u64,
}

impl<'a> Banked<'a> {
    /// `together` bytes, at least those of a bank, get one colour.
    pub fn new(
        memory: &'a MemoryLayout,
        element_bits: u32,
        row: &'a BankRow,
        together: u64,
    ) -> Result<Self, PictureError> {
        sound_element(element_bits)?;
        small_enough("the memory", memory.linear.ins().bits())?;
        // Padding may be far larger than the tensor.
        small_enough("the memory with its padding", memory.allocated_elements().max(4).ilog2() - 2)?;
        let bytes = together.clamp(u64::from(row.bank_bytes), row.wavefront_bytes());
        let group = (bytes * 8 / u64::from(element_bits)).max(1);
        Ok(Self { memory, element_bits, row, group, plane: Plane::new(memory.linear.outs())? })
    }

    /// All elements of all blocks.
    fn all(&self) -> impl Iterator<Item = Stored> + '_ {
        let linear = &self.memory.linear;
        (0..1u64 << linear.ins().bits()).map(move |input| {
            let offset = self.memory.physical_offset(linear.ins().coordinate(input, Dim::OFFSET));
            let block = linear.ins().coordinate(input, Dim::BLOCK);
            Stored { element: linear.apply_packed(input), block, offset }
        })
    }

    /// The byte at which an element begins.
    fn byte(&self, offset: u64) -> u64 {
        offset * u64::from(self.element_bits) / 8
    }

    /// The bank in which an element begins.
    fn bank(&self, offset: u64) -> u64 {
        self.row.bank(self.byte(offset))
    }

    /// The elements in order of memory, as many in a row as the banks give in one wavefront.
    pub fn memory_grid(&self) -> Grid {
        let across = (self.row.wavefront_bytes() * 8 / u64::from(self.element_bits)).max(1);
        let down = self.memory.allocated_elements().div_ceil(across);
        let mut grid = Grid::new(down as usize, across as usize);
        grid.row_axis = "byte".to_owned();
        grid.column_axis = "bank".to_owned();
        grid.row_headings = (0..down).map(|row| self.byte(row * across).to_string()).collect();
        let starts = (0..across).step_by(self.group as usize);
        let banks = |start: u64| from_to(self.bank(start), self.row.bank(self.byte(start + self.group) - 1));
        grid.column_bands = starts.map(|start| Band::new(start as usize, banks(start))).collect();
        for offset in 0..self.memory.allocated_elements() {
            let padding =
                Cell::new("pad").fill(Fill::tone(Tone::Quiet)).hover(format!("byte {}: padding", self.byte(offset)));
            grid.set((offset / across) as usize, (offset % across) as usize, padding);
        }
        let group = self.group as usize;
        let mut runs = Runs::default();
        for stored in self.all().filter(|stored| stored.block == 0) {
            let (row, column) = ((stored.offset / across) as usize, (stored.offset % across) as usize);
            runs.add(row, column, self.plane.coordinates(stored.element));
            grid.set(row, column, self.cell(&stored, self.plane.name(stored.element)));
        }
        grid.runs = runs.named(|column| column.is_multiple_of(group), one_axis_counts_up, range_of_elements);
        grid
    }

    /// The tensor with the offset and the bank of each element.
    pub fn tensor_grid(&self) -> Grid {
        let mut grid = self.plane.grid();
        let mut runs = Runs::default();
        for stored in self.all() {
            let (row, column) = self.plane.place(stored.element);
            runs.add(row, column, vec![stored.offset, self.bank(stored.offset)]);
            let cell = self.cell(&stored, stored.offset.to_string()).line(format!("b{}", self.bank(stored.offset)));
            grid.set(row, column, cell);
        }
        let next =
            |_: &[u64], last: &[u64], next: &[u64]| next[0] == last[0] + 1 && !next[0].is_multiple_of(self.group);
        let name =
            |first: &[u64], last: &[u64]| format!("{} b{}", from_to(first[0], last[0]), from_to(first[1], last[1]));
        grid.runs = runs.named(|_| false, next, name);
        grid
    }

    fn fill(&self, offset: u64) -> Fill {
        let groups = (self.row.wavefront_bytes() * 8 / u64::from(self.element_bits) / self.group).max(1);
        Fill::hue(offset / self.group % groups, groups)
    }

    fn cell(&self, stored: &Stored, text: String) -> Cell {
        let bank = self.bank(stored.offset);
        let name = self.plane.name(stored.element);
        let cell = Cell::new(text)
            .fill(self.fill(stored.offset))
            .link(element_link(&self.plane.coordinates(stored.element)))
            .kin(format!("bank {bank}"))
            .hover(format!("element {name}"))
            .hover(format!("offset {}, byte {}, bank {bank}", stored.offset, self.byte(stored.offset)));
        match self.memory.linear.in_bits(Dim::BLOCK) {
            0 => cell,
            _ => cell.hover(format!("block {}", stored.block)),
        }
    }

    /// From coordinates to the offset, which must be linear and reach every element.
    fn address(&self) -> Result<LinearLayout, PictureError> {
        let inverse = self.memory.linear.pseudoinvert()?;
        let mut order: Vec<Dim> = inverse.ins().dims().collect();
        order.sort();
        order.reverse();
        Ok(inverse.transpose_ins(&order)?)
    }

    /// What a bit of the offset says, before padding.
    fn part(&self, bit: u32) -> &'static str {
        let byte = u64::from(self.element_bits) << bit;
        let word = u64::from(self.row.bank_bytes) * 8;
        match () {
            () if byte < word => "in bank",
            () if byte < self.row.wavefront_bytes() * 8 => "bank",
            () => "row",
        }
    }

    /// The matrix of the offset's bits: of which coordinate bits each is the sum.
    pub fn address_grid(&self) -> Result<Grid, PictureError> {
        let address = self.address()?;
        let coordinates: Vec<Dim> = address.ins().dims().collect();
        let mut grid = matrix_grid(&address.sublayout(&coordinates, &[Dim::OFFSET])?);
        grid.row_axis = "offset".to_owned();
        grid.column_axis = "coordinate".to_owned();
        grid.row_bands.clear();
        for bit in 0..self.memory.linear.in_bits(Dim::OFFSET) {
            let part = self.part(bit);
            if grid.row_bands.last().is_none_or(|band| band.heading != part) {
                grid.row_bands.push(Band::new(bit as usize, part));
            }
        }
        Ok(grid)
    }

    /// The same as sums.
    pub fn address_table(&self) -> Result<Table, PictureError> {
        let address = self.address()?;
        let masks = address.output_masks();
        let sums = masks.iter().filter(|(dim, _)| *dim == Dim::OFFSET).flat_map(|(_, masks)| masks);
        let row = |(bit, mask): (u32, &u64)| {
            let mut terms = Vec::new();
            for (dim, coordinate) in address.ins().unpack(*mask) {
                let bits = (0..64).filter(|bit| coordinate >> bit & 1 == 1);
                terms.extend(bits.map(|bit| format!("{dim} bit {}", 1u64 << bit)));
            }
            vec![(1u64 << bit).to_string(), self.part(bit).to_owned(), terms.join(" xor ")]
        };
        Ok(Table {
            header: ["offset", "is", "sum of"].map(str::to_owned).to_vec(),
            rows: (0..).zip(sums).map(row).collect(),
        })
    }

    /// What is added to the offset, in words; none without padding.
    pub fn padding(&self) -> Option<String> {
        let pairs = self.memory.padding.iter().map(|p| format!("{} elements after every {}", p.padding, p.interval));
        let pairs: Vec<_> = pairs.collect();
        (!pairs.is_empty()).then(|| format!("padding: {}", pairs.join(", ")))
    }
}
