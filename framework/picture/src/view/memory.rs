//! A memory layout: its elements in the banks of a target, and the conflicts of accesses to it,
//! beside those without a swizzle and with the best one.

use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::Path;
use tilewright_target::{BankRow, Direction, TargetDescription};

use super::access::{Access, AccessSpec, Accesses};
use super::axes::Axes;
use super::banks::Banked;
use super::wavefront::{Wavefront, wavefronts};
use crate::error::check_size;
use crate::text::{join, ranges};
use crate::{Axis, Cell, Fill, Grid, Panel, Picture, PictureError, Table, Tone};

/// A memory layout, and who accesses it.
#[derive(Debug, Clone, Copy)]
pub struct MemoryView<'a> {
    /// What the layout is called.
    pub name: &'a str,
    /// The layout.
    pub memory: &'a MemoryLayout,
    /// Width of an element in bits.
    pub element_bits: u32,
    /// Whose banks serve it.
    pub target: &'a TargetDescription,
    /// Who stores to it, from (register, lane, warp, block).
    pub store: Option<&'a LinearLayout>,
    /// Who loads from it.
    pub load: Option<&'a LinearLayout>,
}

/// The picture of a memory layout: memory in rows of what the banks give at once beside the tensor, the
/// bits of the address, and for the accesses of warp 0 which lanes each bank serves in which wavefront;
/// the latter also for the layout without swizzle or padding and for the best swizzle.
///
/// # Errors
/// [`PictureError`]: a tensor that is too large, accesses that the target or the layout does not allow.
pub fn memory(view: &MemoryView<'_>) -> Result<Picture, PictureError> {
    let mut picture = Picture::new(format!("{} in shared memory of {}", view.name, view.target.name));
    check_size("the memory", view.memory.linear.ins().bits())?;
    let served = view.accessed(view.memory)?;
    let row = match served.first() {
        Some(served) => served.row,
        None => view.plain_row()?,
    };
    picture.caption.push(banks_in_words(row));
    let together = view.together(&served);
    let banked = Banked::new(view.memory, view.element_bits, row, together)?;
    let mut memory = Panel::grid("memory", banked.memory_grid()).caption("in each cell the element; colours are banks");
    let mut address = Panel::grid("bits of the offset", banked.address_grid()?);
    if let Some(padding) = banked.padding() {
        address = address.caption(format!("before {padding}"));
        memory = memory.caption(padding);
    }
    picture.add(memory);
    let tensor = Panel::grid("tensor", banked.tensor_grid());
    picture.add(tensor.caption("in each cell the offset in elements and the bank"));
    picture.start_row();
    picture.add(address);
    picture.add(Panel::table("the same as sums", banked.address_table()?));
    if !served.is_empty() {
        view.add_conflicts(&mut picture, &served, row)?;
    }
    Ok(picture)
}

/// The accesses of one direction, or of both where banks serve both alike.
pub(super) struct Served<'a> {
    name: &'static str,
    pub row: &'a BankRow,
    accesses: Accesses,
}

impl<'a> MemoryView<'a> {
    /// Bytes that are coloured alike: those of an access, or where there is none of the elements that lie
    /// together in the memory as in the tensor.
    pub(super) fn together(&self, served: &[Served<'_>]) -> u64 {
        let accessed = served.iter().map(|served| served.accesses.bytes()).max();
        let widest = self.target.shared.access_bits.iter().copied().max().unwrap_or(0);
        let run = consecutive(&self.memory.linear) * u64::from(self.element_bits);
        accessed.unwrap_or(run.min(u64::from(widest)) / 8)
    }

    /// The row of plain accesses where no access is given: that of the widest loads.
    fn plain_row(&self) -> Result<&'a BankRow, PictureError> {
        let widest = self.target.shared.access_bits.iter().copied().max().unwrap_or(0);
        self.row(Direction::Load, widest)
    }

    fn row(&self, direction: Direction, bits: u32) -> Result<&'a BankRow, PictureError> {
        self.target.bank_row(direction, bits).ok_or_else(|| {
            let reason = format!("target {} has no bank row for accesses of {bits} bits", self.target.name);
            PictureError::not_drawable("the banks", reason, "add one to its description")
        })
    }

    /// The accesses of warp 0 to a layout of the tensor.
    pub(super) fn accessed(&self, memory: &MemoryLayout) -> Result<Vec<Served<'a>>, PictureError> {
        let mut all: Vec<Served<'a>> = Vec::new();
        let sides = [("stores", Direction::Store, self.store), ("loads", Direction::Load, self.load)];
        for (name, direction, registers) in sides {
            let Some(registers) = registers else { continue };
            let spec = AccessSpec {
                registers,
                memory,
                element_bits: self.element_bits,
                widths: &self.target.shared.access_bits,
                warp: 0,
                copies: direction == Direction::Load,
            };
            let accesses = spec.accesses()?;
            let row = self.row(direction, accesses.bits())?;
            match all.last_mut().filter(|_| self.store == self.load) {
                Some(both) if both.row == row && both.accesses == accesses => both.name = "stores and loads",
                _ => all.push(Served { name, row, accesses }),
            }
        }
        Ok(all)
    }

    /// The conflicts of this layout and of those that it is compared with.
    fn add_conflicts(&self, picture: &mut Picture, served: &[Served<'_>], row: &BankRow) -> Result<(), PictureError> {
        let mut rows: Vec<_> = served.iter().map(|served| served.summary("this one")).collect();
        let mut compared = Vec::new();
        for (name, memory) in &self.variants() {
            let served = self.accessed(memory)?;
            rows.extend(served.iter().map(|served| served.summary(name)));
            let banked = Banked::new(memory, self.element_bits, row, self.together(&served))?;
            let axes = Axes::new(memory.linear.outs());
            let mut panels = vec![Panel::grid(*name, banked.tensor_grid())];
            panels.extend(served.iter().map(|served| served.panel(&axes)));
            compared.push(panels);
        }
        let header = ["layout", "access", "bytes a lane", "accesses", "wavefronts", "least"];
        picture.add(Panel::table("accesses of warp 0", Table::new(header, rows)));
        picture.start_row();
        let axes = Axes::new(self.memory.linear.outs());
        served.iter().for_each(|served| picture.add(served.panel(&axes)));
        for panels in compared {
            picture.start_row();
            panels.into_iter().for_each(|panel| picture.add(panel));
        }
        Ok(())
    }

    /// The same tensor without swizzle and padding, and with the best swizzle, if these differ.
    fn variants(&self) -> Vec<(&'static str, MemoryLayout)> {
        let plain = plain(&self.memory.linear).map(|memory| ("without swizzle", memory));
        let best = self.best().map(|memory| ("best swizzle", memory));
        let differs = |memory: &MemoryLayout| memory.linear != self.memory.linear || !self.memory.padding.is_empty();
        [plain, best].into_iter().flatten().filter(|(_, memory)| differs(memory)).collect()
    }

    /// The swizzle that a conversion from the writer to the reader would choose, where its scratch
    /// holds the whole tensor of one block.
    fn best(&self) -> Option<MemoryLayout> {
        let (store, load) = (self.store.or(self.load)?, self.load.or(self.store)?);
        let (plans, _) = movement::candidates(store, load, self.element_bits, self.target).ok()?;
        let plan = plans.iter().find(|plan| plan.path == Path::Shared)?;
        let columns = &plan.swizzle()?.columns;
        let ins = self.memory.linear.sublayout(&[Dim::OFFSET], &[]).ok()?;
        let linear = LinearLayout::from_columns(ins.ins().clone(), store.outs().clone(), columns).ok()?;
        let order: Vec<Dim> = self.memory.linear.outs().dims().collect();
        Some(MemoryLayout::linear(linear.transpose_outs(&order).ok()?))
    }
}

/// The layout whose offsets count along one axis after the other, in the order in which the given one
/// first moves along them.
fn plain(linear: &LinearLayout) -> Option<MemoryLayout> {
    if linear.in_bits(Dim::BLOCK) > 0 {
        return None;
    }
    let outs = linear.outs();
    let first = |dim: Dim| linear.columns().iter().position(|&column| outs.coordinate(column, dim) != 0);
    let mut order: Vec<Dim> = outs.dims().collect();
    order.sort_by_key(|&dim| first(dim).unwrap_or(usize::MAX));
    let mut sum = LinearLayout::empty();
    for &dim in &order {
        sum = sum.direct_sum(&LinearLayout::identity(1 << outs.bits_of(dim), Dim::OFFSET, dim).ok()?).ok()?;
    }
    let same: Vec<Dim> = outs.dims().collect();
    let plain = sum.transpose_outs(&same).ok()?;
    let blocks = linear.sublayout(&[Dim::BLOCK], &same).ok()?;
    let plain = if linear.ins().contains(Dim::BLOCK) { plain.concat_ins(&blocks).ok()? } else { plain };
    Some(MemoryLayout::linear(plain))
}

/// Elements that lie side by side in memory as along an axis of the tensor, everywhere.
fn consecutive(linear: &LinearLayout) -> u64 {
    let steps = linear.columns_of(Dim::OFFSET);
    let first = steps.first().copied().unwrap_or(0);
    let shift = first.trailing_zeros().min(63);
    let in_order = (0..).zip(steps).take_while(|&(bit, &step)| step == first << bit).count();
    let apart = |bits: usize| {
        let low = ((1u64 << bits) - 1) << shift;
        steps[bits..].iter().all(|step| step & low == 0)
    };
    (0..=in_order).rev().find(|&bits| apart(bits)).map_or(1, |bits| 1 << bits)
}

pub(super) fn banks_in_words(row: &BankRow) -> String {
    let phase = Subspace::span(row.phase.iter().copied()).dimension();
    format!(
        "{} banks of {} bytes; accesses of {} bits serve {} lanes at once",
        row.banks,
        row.bank_bytes,
        join(&row.access_bits, ", "),
        1u64 << phase.min(63)
    )
}

impl Served<'_> {
    fn wavefronts(&self, access: &Access) -> Vec<Wavefront> {
        wavefronts(self.row, &self.accesses, access)
    }

    /// Phases that any lane of an access is in: the least number of wavefronts.
    fn least(&self, access: &Access) -> usize {
        self.wavefronts(access).iter().filter(|wavefront| wavefront.turn == 0).count()
    }

    /// All accesses in numbers.
    fn summary(&self, layout: &str) -> Vec<String> {
        let total: usize = self.accesses.list.iter().map(|access| self.wavefronts(access).len()).sum();
        let least: usize = self.accesses.list.iter().map(|access| self.least(access)).sum();
        let numbers = [self.accesses.bytes(), self.accesses.list.len() as u64, total as u64, least as u64];
        [layout, self.name].iter().map(|text| (*text).to_owned()).chain(numbers.map(|n| n.to_string())).collect()
    }

    /// The wavefronts of the access that takes the most: a row each, a column for each bank.
    pub(super) fn panel(&self, axes: &Axes<'_>) -> Panel {
        let cost = |index: &usize| self.wavefronts(&self.accesses.list[*index]).len();
        let worst = (0..self.accesses.list.len()).rev().max_by_key(cost).unwrap_or(0);
        let Some(access) = self.accesses.list.get(worst) else { return Panel::note(self.name, ["none"]) };
        let wavefronts = self.wavefronts(access);
        let count = wavefronts.len();
        let phases = wavefronts.iter().enumerate().filter(|(_, wavefront)| wavefront.turn == 0);
        let phases = phases.map(|(row, wavefront)| (row, format!("phase {}", wavefront.phase)));
        let rows = Axis::new("wavefront", 0..count).bands(phases);
        let lanes = access.addresses.len() as u64;
        let cell = |row: usize, bank: usize| bank_cell(&wavefronts[row], bank, lanes, axes);
        let grid = Grid::of(rows, Axis::new("bank", 0..self.row.banks), cell);
        let verdict = match count - self.least(access) {
            0 => "no conflicts".to_owned(),
            excess => format!("{excess} more than without conflicts"),
        };
        let (all, registers) = (self.accesses.list.len(), ranges(&access.registers));
        Panel::grid(format!("{}, {} bytes a lane", self.name, self.accesses.bytes()), grid)
            .caption(format!("access {worst} of {all}, registers {registers}; wavefronts: {count}, {verdict}"))
            .caption("in each cell the lanes that the bank serves; framed: they had to wait")
    }
}

fn bank_cell(wavefront: &Wavefront, bank: usize, lanes: u64, axes: &Axes<'_>) -> Cell {
    let Some(word) = &wavefront.banks[bank] else { return Cell::default().fill(Fill::tone(Tone::Quiet)) };
    let first = word.lanes.first().copied().unwrap_or(0);
    let cell = Cell::new(ranges(&word.lanes))
        .fill(Fill::hue(first, lanes))
        .links(word.elements.iter().map(|&element| axes.link(element)))
        .kins(word.lanes.iter().map(|lane| format!("lane {lane}")))
        .hover(format!("bank {bank}, word {}", word.number))
        .hover(format!("lanes {}", ranges(&word.lanes)))
        .hover(format!("elements {}", join(word.elements.iter().map(|&element| axes.name(element)), "  ")));
    if wavefront.turn > 0 { cell.mark(Tone::Bad) } else { cell }
}
