//! Draws the accesses of a warp to a tensor in global memory: the bytes of each lane, and the sectors and lines that
//! they touch.

use std::collections::BTreeSet;

use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::TargetDescription;

use super::access::{Access, AccessSpec, WarpAccesses};
use super::runs::{Values, runs};
use super::stacked::StackedPlane;
use crate::text::ranges;
use crate::{Cell, CellColour, EmphasisColour, Grid, GridAxis, Panel, Picture, PictureError, TextTable};

/// Max number of requests (accesses of the warp) in the table.
const MOST_REQUESTS: usize = 32;

/// Number of cache lines in one row of the drawn memory.
const ABREAST: u64 = 4;

/// The parameters of [`draw_global_accesses()`]: a tensor in global memory, and the layout by which a warp accesses it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GlobalAccessPictureSpec<'a> {
    /// Name of the layout, for the title.
    pub name: &'a str,
    /// Distributed layout of the registers that are loaded or stored.
    pub layout: &'a LinearLayout,
    /// The tensor's axes in memory, the fastest first.
    pub order: &'a [usize],
    /// Width of an element in bits.
    pub element_bits: u32,
    /// The target, which gives access widths and the sector size.
    pub target: &'a TargetDescription,
    /// Index of the warp in block 0.
    pub warp: u64,
    /// Size of a memory line (cache line) in bytes, a power of two.
    pub line_bytes: u64,
}

impl<'a> GlobalAccessPictureSpec<'a> {
    /// Creates the parameters for the accesses of warp 0 to a tensor whose axes in memory have the order `order`, the
    /// fastest first. Memory lines have 128 bytes.
    #[must_use]
    pub fn new(
        name: &'a str,
        layout: &'a LinearLayout,
        order: &'a [usize],
        element_bits: u32,
        target: &'a TargetDescription,
    ) -> Self {
        Self { name, layout, order, element_bits, target, warp: 0, line_bytes: 128 }
    }

    /// Selects another warp.
    #[must_use]
    pub fn with_warp(self, warp: u64) -> Self {
        Self { warp, ..self }
    }

    /// Sets the size of a memory line (cache line) in bytes, a power of two.
    #[must_use]
    pub fn with_line_bytes(self, line_bytes: u64) -> Self {
        Self { line_bytes, ..self }
    }
}

/// Draws the accesses of one warp to a tensor that is dense in memory: the bytes of one request, statistics of all
/// requests, and the memory and the tensor coloured by request. A request is one access of the warp, as wide as layout,
/// order and target allow; a sector is the target's unit of transfer.
///
/// # Errors
/// [`PictureError`] if the order is no permutation of the axes, the warp or the line size does not exist, the tensor is
/// too large, or the elements cannot be accessed.
pub fn draw_global_accesses(view: &GlobalAccessPictureSpec<'_>) -> Result<Picture, PictureError> {
    view.check()?;
    let memory = dense(view.layout, view.order)?;
    let spec = AccessSpec {
        registers: view.layout,
        memory: &memory,
        element_bits: view.element_bits,
        widths: &view.target.global.access_bits,
        warp: view.warp,
        copies: true,
    };
    let requests =
        Requests { view, accesses: spec.compute_accesses()?, plane: StackedPlane::new(memory.linear.outs())? };
    let mut picture = Picture::new(format!("{} in global memory of {}", view.name, view.target.name));
    picture.caption = requests.description();
    picture.add_panel(requests.one());
    picture.add_panel(Panel::table(format!("requests of warp {}", view.warp), requests.table()));
    picture.start_row();
    picture.add_panel(requests.memory(&memory));
    picture.add_panel(requests.tensor());
    Ok(picture)
}

impl GlobalAccessPictureSpec<'_> {
    fn check(&self) -> Result<(), PictureError> {
        let wrong = |reason: String, remedy: &str| Err(PictureError::not_drawable("the accesses", reason, remedy));
        let mut sorted = self.order.to_vec();
        sorted.sort_unstable();
        let rank = self.layout.outs().dims().filter(|dim| dim.as_tensor_axis().is_some()).count();
        if !sorted.into_iter().eq(0..rank) {
            let reason = format!("the order {:?} does not name each of the {rank} axes once", self.order);
            return wrong(reason, "name the fastest axis first, as 1,0");
        }
        let warps = 1u64 << self.layout.in_bits(Dim::WARP);
        if self.warp >= warps {
            return wrong(format!("there is no warp {} of {warps}", self.warp), "choose another");
        }
        let sector = u64::from(self.target.global.transaction_bytes);
        if !self.line_bytes.is_power_of_two() || self.line_bytes < sector {
            let reason = format!("a line of {} bytes does not consist of sectors of {sector}", self.line_bytes);
            return wrong(reason, "choose a power of two that is no smaller");
        }
        Ok(())
    }
}

/// Returns the memory layout of a dense tensor with the axes in the given order, the fastest first.
fn dense(layout: &LinearLayout, order: &[usize]) -> Result<MemoryLayout, PictureError> {
    let mut sum = LinearLayout::empty();
    for dim in order.iter().map(|&axis| Dim::tensor(axis)) {
        sum = sum.direct_sum(&LinearLayout::identity(1 << layout.out_bits(dim), Dim::OFFSET, dim)?)?;
    }
    Ok(MemoryLayout::from_linear(sum))
}

struct Requests<'a> {
    view: &'a GlobalAccessPictureSpec<'a>,
    accesses: WarpAccesses,
    plane: StackedPlane<'a>,
}

impl Requests<'_> {
    fn sector_bytes(&self) -> u64 {
        u64::from(self.view.target.global.transaction_bytes.max(1))
    }

    fn count(&self) -> u64 {
        self.accesses.list.len() as u64
    }

    /// Returns the indices of the aligned blocks of `size` bytes of memory that an access touches.
    fn touched(&self, access: &Access, size: u64) -> BTreeSet<u64> {
        let bytes = self.accesses.bytes();
        let spans = access.addresses.iter().flatten().map(|&first| first / size..=(first + bytes - 1) / size);
        spans.flatten().collect()
    }

    /// Returns the number of distinct bytes that the lanes of an access load or store.
    fn required(&self, access: &Access) -> u64 {
        self.touched(access, self.accesses.bytes()).len() as u64 * self.accesses.bytes()
    }

    /// Returns a lower bound on the number of sectors that an access touches: its number of distinct bytes divided by
    /// the size of a sector, rounded up.
    fn min_transactions(&self, access: &Access) -> u64 {
        self.required(access).div_ceil(self.sector_bytes())
    }

    fn description(&self) -> Vec<String> {
        let sectors = |access: &Access| self.touched(access, self.sector_bytes()).len() as u64;
        let all: u64 = self.accesses.list.iter().map(sectors).sum();
        let min_transactions: u64 = self.accesses.list.iter().map(|access| self.min_transactions(access)).sum();
        let bytes = self.accesses.bytes();
        vec![
            format!(
                "a lane moves {bytes} bytes at once: {} elements of {} bytes; the target's widest access has {} bytes",
                self.accesses.elements,
                self.accesses.element_bytes,
                self.view.target.global.access_bits.iter().max().map_or(0, |bits| bits / 8)
            ),
            format!(
                "warp {}: {} requests touch {all} sectors of {} bytes; lower bound {min_transactions}",
                self.view.warp,
                self.count(),
                self.sector_bytes()
            ),
        ]
    }

    /// Draws the request that touches the most sectors, with a cell for each lane's access.
    fn one(&self) -> Panel {
        let sectors = |index: &usize| self.touched(&self.accesses.list[*index], self.sector_bytes()).len();
        let worst = (0..self.accesses.list.len()).rev().max_by_key(sectors).unwrap_or(0);
        let Some(access) = self.accesses.list.get(worst) else { return Panel::note("requests", ["none"]) };
        let (line, bytes) = (self.view.line_bytes, self.accesses.bytes());
        let lines: Vec<u64> = self.touched(access, line).into_iter().collect();
        let touched = self.touched(access, self.sector_bytes());
        let sector = self.sector_bytes();
        let starts = (0..line / sector).map(|at| ((at * sector).div_ceil(bytes) as usize, at.to_string()));
        let rows = GridAxis::new("byte", lines.iter().map(|at| at * line));
        let columns = GridAxis::without_headings("sector", (line / bytes) as usize).with_bands(starts);
        let grid = Grid::from_fn(rows, columns, |row, column| {
            let byte = lines[row] * line + column as u64 * bytes;
            self.byte_cell(access, byte, touched.contains(&(byte / sector)))
        });
        let lanes = access.addresses.iter().flatten().count();
        Panel::grid(format!("request {worst} of {}", self.count()), grid)
            .with_caption_line(format!(
                "registers {}; {lanes} lanes, {} sectors, {} lines of {line} bytes",
                ranges(&access.registers),
                touched.len(),
                lines.len()
            ))
            .with_caption_line("in each cell the lanes that read these bytes; grey: transferred but not read")
    }

    fn byte_cell(&self, access: &Access, byte: u64, fetched: bool) -> Cell {
        let lanes: Vec<u64> =
            (0..).zip(&access.addresses).filter(|(_, first)| **first == Some(byte)).map(|(lane, _)| lane).collect();
        let Some(&first) = lanes.first() else {
            return match fetched {
                true => Cell::default()
                    .with_fill(CellColour::from_tone(EmphasisColour::Quiet))
                    .with_tooltip_line(format!("byte {byte}: not read")),
                false => Cell::default().with_tooltip_line(format!("byte {byte}: not transferred")),
            };
        };
        Cell::new(format!("T{}", ranges(&lanes)))
            .with_fill(CellColour::from_index(first, access.addresses.len() as u64))
            .with_links(
                access.lane_elements[first as usize].iter().map(|&element| self.plane.axes.element_link(element)),
            )
            .with_related_groups(lanes.iter().map(|lane| format!("lane {lane}")))
            .with_tooltip_line(format!("bytes {byte} to {}", byte + self.accesses.bytes() - 1))
            .with_tooltip_line(format!("lane {}", ranges(&lanes)))
    }

    fn table(&self) -> TextTable {
        let row = |(index, access): (usize, &Access)| {
            let sectors = self.touched(access, self.sector_bytes()).len() as u64;
            let lines = self.touched(access, self.view.line_bytes).len();
            let (required, moved) = (self.required(access), sectors * self.sector_bytes());
            vec![
                index.to_string(),
                ranges(&access.registers),
                required.to_string(),
                sectors.to_string(),
                self.min_transactions(access).to_string(),
                lines.to_string(),
                format!("{}%", required * 100 / moved.max(1)),
            ]
        };
        let mut rows: Vec<_> = self.accesses.list.iter().enumerate().take(MOST_REQUESTS).map(row).collect();
        if self.accesses.list.len() > MOST_REQUESTS {
            rows.push(vec![format!("and {} more", self.accesses.list.len() - MOST_REQUESTS)]);
        }
        TextTable::new(["request", "registers", "bytes", "sectors", "bound", "lines", "used"], rows)
    }

    /// Draws the whole memory in sectors, with the requests that touch each.
    fn memory(&self, memory: &MemoryLayout) -> Panel {
        let sector = self.sector_bytes();
        let all = (memory.allocated_elements() * self.accesses.element_bytes).div_ceil(sector);
        let in_line = self.view.line_bytes / sector;
        let across = (in_line * ABREAST).min(all.next_power_of_two());
        let rows = GridAxis::new("byte", (0..all.div_ceil(across)).map(|row| row * across * sector));
        let name = format!("sectors, in lines of {} bytes", self.view.line_bytes);
        let columns = GridAxis::without_headings(name, across as usize).with_borders_every(in_line as usize);
        let row_and_column = |sector: u64| ((sector / across) as usize, (sector % across) as usize);
        let mut grid = Grid::new(rows, columns);
        for (request, access) in (0u64..).zip(&self.accesses.list) {
            for at in self.touched(access, sector) {
                let (row, column) = row_and_column(at);
                let Some(cell) = grid.cell_mut(row, column) else { continue };
                if cell.lines.is_empty() {
                    *cell = Cell::new(format!("#{request}")).with_fill(CellColour::from_index(request, self.count()));
                } else {
                    cell.lines = vec![format!("{}+", cell.lines[0].trim_end_matches('+'))];
                    cell.mark = Some(EmphasisColour::Bad);
                }
                cell.kin.push(format!("request {request}"));
                cell.hover.push(format!("sector at byte {}: request {request}", at * sector));
            }
        }
        // Link each sector to its elements.
        for offset in 0..memory.allocated_elements() {
            let (row, column) = row_and_column(offset * self.accesses.element_bytes / sector);
            if let Some(cell) = grid.cell_mut(row, column) {
                cell.links.push(self.plane.axes.element_link(memory.linear.apply_packed(offset)));
            }
        }
        Panel::grid("memory", grid)
            .with_caption_line(format!("in each cell the request of warp {} that touches the sector", self.view.warp))
            .with_caption_line("framed, with a +: touched by several")
    }

    /// Draws the tensor, with the lane and request that access each element.
    fn tensor(&self) -> Panel {
        let (rows, columns) = self.plane.grid_axes();
        let mut grid = Grid::from_fn(rows, columns, |row, column| {
            let link = self.plane.axes.element_link(self.plane.element_at(row, column));
            Cell::default().with_link(link.clone()).with_tooltip_line(link)
        });
        let mut holders = Values::new();
        for (request, access) in (0u64..).zip(&self.accesses.list) {
            for (lane, lane_elements) in (0u64..).zip(&access.lane_elements) {
                for &element in lane_elements {
                    let (row, column) = self.plane.position_of_element(element);
                    let Some(cell) = grid.cell_mut(row, column) else { continue };
                    if cell.lines.is_empty() {
                        holders.insert((row, column), (lane, request));
                        cell.lines = vec![format!("T{lane}"), format!("#{request}")];
                        cell.fill = CellColour::from_index(request, self.count());
                    }
                    cell.kin.push(format!("lane {lane}"));
                    cell.hover.push(format!("lane {lane}, request {request}"));
                }
            }
        }
        grid.runs = runs(&holders, |_, last, next| last == next, |(lane, request), _| format!("T{lane}#{request}"));
        Panel::grid("tensor", grid)
            .with_caption_line(format!("in each cell the lane and, after #, the request of warp {}", self.view.warp))
    }
}
