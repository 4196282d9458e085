//! Draws a memory layout over the banks of a target, and the bank conflicts of its accesses, compared with the layout
//! without swizzle and with the best swizzle.

use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::ConversionKind;
use tilewright_target::{BankTableEntry, Direction, TargetDescription};

use super::access::{Access, AccessSpec, WarpAccesses};
use super::axes::TensorAxes;
use super::banks::BankDrawing;
use super::wavefront::{Wavefront, wavefronts};
use crate::error::check_size;
use crate::text::{join, ranges};
use crate::{Cell, CellColour, EmphasisColour, Grid, GridAxis, Panel, Picture, PictureError, TextTable};

/// The parameters of [`draw_memory()`]: a memory layout, and the register layouts that are stored to it and loaded from
/// it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MemoryPictureSpec<'a> {
    /// Name of the layout, for the title.
    pub name: &'a str,
    /// The memory layout to draw.
    pub memory: &'a MemoryLayout,
    /// Width of an element in bits.
    pub element_bits: u32,
    /// The target, which gives the banks and the access widths.
    pub target: &'a TargetDescription,
    /// Distributed layout of the stored registers; `None` for no stores.
    pub store: Option<&'a LinearLayout>,
    /// Distributed layout of the loaded registers; `None` for no loads.
    pub load: Option<&'a LinearLayout>,
}

impl<'a> MemoryPictureSpec<'a> {
    /// Creates the parameters for a memory without accesses.
    #[must_use]
    pub fn new(name: &'a str, memory: &'a MemoryLayout, element_bits: u32, target: &'a TargetDescription) -> Self {
        Self { name, memory, element_bits, target, store: None, load: None }
    }

    /// Adds stores from registers of this distributed layout; none for `None`.
    #[must_use]
    pub fn with_store(self, store: impl Into<Option<&'a LinearLayout>>) -> Self {
        Self { store: store.into(), ..self }
    }

    /// Adds loads to registers of this distributed layout; none for `None`.
    #[must_use]
    pub fn with_load(self, load: impl Into<Option<&'a LinearLayout>>) -> Self {
        Self { load: load.into(), ..self }
    }
}

/// Draws a memory layout: rows of the bytes that one wavefront serves, the tensor, the address bits, and for the
/// accesses of warp 0 the lanes that each bank serves in each wavefront. The accesses are drawn again for the layout
/// without swizzle or padding, and for the best swizzle.
///
/// # Errors
/// [`PictureError`] if the tensor is too large, or the target or the layout does not allow the accesses.
pub fn draw_memory(view: &MemoryPictureSpec<'_>) -> Result<Picture, PictureError> {
    let mut picture = Picture::new(format!("{} in shared memory of {}", view.name, view.target.name));
    check_size("the memory", view.memory.linear.ins().total_bits())?;
    let served = view.accessed(view.memory)?;
    let row = match served.first() {
        Some(served) => served.row,
        None => view.plain_row()?,
    };
    picture.caption.push(banks_in_words(row));
    let together = view.together(&served);
    let banked = BankDrawing::new(view.memory, view.element_bits, row, together)?;
    let mut memory = Panel::grid("memory", banked.draw_memory_grid())
        .with_caption_line("in each cell the element; colours are banks");
    let mut address = Panel::grid("bits of the offset", banked.draw_address_matrix()?);
    if let Some(padding) = banked.describe_padding() {
        address = address.with_caption_line(format!("before {padding}"));
        memory = memory.with_caption_line(padding);
    }
    picture.add_panel(memory);
    let tensor = Panel::grid("tensor", banked.draw_tensor_grid());
    picture.add_panel(tensor.with_caption_line("in each cell the offset in elements and the bank"));
    picture.start_row();
    picture.add_panel(address);
    picture.add_panel(Panel::table("the same as XOR of bits", banked.address_matrix_table()?));
    if !served.is_empty() {
        view.add_conflicts(&mut picture, &served, row)?;
    }
    Ok(picture)
}

/// The accesses of warp 0 in one direction (stores or loads), or in both if they are equal.
pub(super) struct BankedAccesses<'a> {
    name: &'static str,
    pub row: &'a BankTableEntry,
    accesses: WarpAccesses,
}

impl<'a> MemoryPictureSpec<'a> {
    /// Returns the number of bytes that share a colour: those of a lane's access; without accesses, those of elements
    /// that are consecutive both in memory and in the tensor.
    pub(super) fn together(&self, served: &[BankedAccesses<'_>]) -> u64 {
        let accessed = served.iter().map(|served| served.accesses.bytes()).max();
        let widest = self.target.shared.access_bits.iter().copied().max().unwrap_or(0);
        let run = consecutive(&self.memory.linear) * u64::from(self.element_bits);
        accessed.unwrap_or(run.min(u64::from(widest)) / 8)
    }

    /// Returns the target's bank model for its widest plain loads, for pictures without accesses.
    fn plain_row(&self) -> Result<&'a BankTableEntry, PictureError> {
        let widest = self.target.shared.access_bits.iter().copied().max().unwrap_or(0);
        self.row(Direction::Load, widest)
    }

    fn row(&self, direction: Direction, bits: u32) -> Result<&'a BankTableEntry, PictureError> {
        self.target.find_bank_row(direction, bits).ok_or_else(|| {
            let reason = format!("target {} has no bank row for accesses of {bits} bits", self.target.name);
            PictureError::not_drawable("the banks", reason, "add one to its description")
        })
    }

    /// Returns the accesses of warp 0 to the memory layout `memory`: those of stores and those of loads, if the view
    /// has them.
    pub(super) fn accessed(&self, memory: &MemoryLayout) -> Result<Vec<BankedAccesses<'a>>, PictureError> {
        let mut all: Vec<BankedAccesses<'a>> = Vec::new();
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
            let accesses = spec.compute_accesses()?;
            let row = self.row(direction, accesses.bits())?;
            match all.last_mut().filter(|_| self.store == self.load) {
                Some(both) if both.accesses == accesses && both.is_served_by(row) => both.name = "stores and loads",
                _ => all.push(BankedAccesses { name, row, accesses }),
            }
        }
        Ok(all)
    }

    /// Adds panels with the bank conflicts of the accesses under this layout, under the one without swizzle, and under
    /// the one with the best swizzle.
    fn add_conflicts(
        &self,
        picture: &mut Picture,
        served: &[BankedAccesses<'_>],
        row: &BankTableEntry,
    ) -> Result<(), PictureError> {
        let mut rows: Vec<_> = served.iter().map(|served| served.summary("this one")).collect();
        let mut compared = Vec::new();
        for (name, memory) in &self.variants() {
            let served = self.accessed(memory)?;
            rows.extend(served.iter().map(|served| served.summary(name)));
            let banked = BankDrawing::new(memory, self.element_bits, row, self.together(&served))?;
            let axes = TensorAxes::new(memory.linear.outs());
            let mut panels = vec![Panel::grid(*name, banked.draw_tensor_grid())];
            panels.extend(served.iter().map(|served| served.panel(&axes)));
            compared.push(panels);
        }
        let header = ["layout", "access", "bytes a lane", "accesses", "wavefronts", "bound"];
        picture.add_panel(Panel::table("accesses of warp 0", TextTable::new(header, rows)));
        picture.start_row();
        let axes = TensorAxes::new(self.memory.linear.outs());
        served.iter().for_each(|served| picture.add_panel(served.panel(&axes)));
        for panels in compared {
            picture.start_row();
            panels.into_iter().for_each(|panel| picture.add_panel(panel));
        }
        Ok(())
    }

    /// Returns the layouts for comparison, with their names: without swizzle and padding, and with the best swizzle;
    /// equal ones are left out.
    fn variants(&self) -> Vec<(&'static str, MemoryLayout)> {
        let plain = plain(&self.memory.linear).map(|memory| ("without swizzle", memory));
        let best = self.best().map(|memory| ("best swizzle", memory));
        let differs = |memory: &MemoryLayout| memory.linear != self.memory.linear || !self.memory.padding.is_empty();
        [plain, best].into_iter().flatten().filter(|(_, memory)| differs(memory)).collect()
    }

    /// Returns the swizzled layout of the scratch memory that a conversion between the layouts of stores and loads
    /// would use; `None` if that scratch memory does not hold the whole tensor of one block.
    fn best(&self) -> Option<MemoryLayout> {
        let (store, load) = (self.store.or(self.load)?, self.load.or(self.store)?);
        let (plans, _) = movement::conversion_candidates(store, load, self.element_bits, self.target).ok()?;
        let plan = plans.iter().find(|plan| plan.path == ConversionKind::Shared)?;
        let columns = &plan.scratch_layout()?.columns;
        let ins = self.memory.linear.sublayout(&[Dim::OFFSET], &[]).ok()?;
        let linear = LinearLayout::from_columns(ins.ins().clone(), store.outs().clone(), columns).ok()?;
        let order: Vec<Dim> = self.memory.linear.outs().dims().collect();
        Some(MemoryLayout::from_linear(linear.transpose_outs(&order).ok()?))
    }
}

/// Returns the layout without swizzle and padding: offsets advance along one axis after the other, in the order in
/// which the axes first occur in `linear`. `None` for a layout over several blocks.
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
    Some(MemoryLayout::from_linear(plain))
}

/// Returns the length, in elements, of the runs that are consecutive both in memory and along one axis of the tensor.
fn consecutive(linear: &LinearLayout) -> u64 {
    let steps = linear.columns_of(Dim::OFFSET);
    let first = steps.first().copied().unwrap_or(0);
    let shift = first.trailing_zeros().min(63);
    let in_order = (0..).zip(steps).take_while(|&(bit, &step)| step == first << bit).count();
    let is_disjoint = |bits: usize| {
        let low = ((1u64 << bits) - 1) << shift;
        steps[bits..].iter().all(|step| step & low == 0)
    };
    (0..=in_order).rev().find(|&bits| is_disjoint(bits)).map_or(1, |bits| 1 << bits)
}

pub(super) fn banks_in_words(row: &BankTableEntry) -> String {
    let phase = Subspace::span(row.phase.iter().copied()).dimension();
    format!(
        "{} banks of {} bytes; accesses of {} bits serve {} lanes at once",
        row.banks,
        row.bank_bytes,
        join(&row.access_bits, ", "),
        1u64 << phase.min(63)
    )
}

impl BankedAccesses<'_> {
    /// Whether these accesses would take the same wavefronts by the bank model `row`.
    fn is_served_by(&self, row: &BankTableEntry) -> bool {
        let banks = |row: &BankTableEntry| (row.banks, row.bank_bytes);
        let has_phases =
            |access: &Access| self.row.lanes_of_phases(&access.addresses) == row.lanes_of_phases(&access.addresses);
        banks(self.row) == banks(row) && self.accesses.list.iter().all(has_phases)
    }

    fn wavefronts(&self, access: &Access) -> Vec<Wavefront> {
        wavefronts(self.row, &self.accesses, access)
    }

    /// Returns the number of phases (groups of lanes served together) with an active lane: the lower bound on
    /// wavefronts.
    fn min_wavefronts(&self, access: &Access) -> usize {
        self.wavefronts(access).iter().filter(|wavefront| wavefront.pass == 0).count()
    }

    /// Returns a table row for the layout with the name `layout`: bytes of a lane's access, accesses, wavefronts and
    /// the lower bound of wavefronts.
    fn summary(&self, layout: &str) -> Vec<String> {
        let total: usize = self.accesses.list.iter().map(|access| self.wavefronts(access).len()).sum();
        let min_wavefronts: usize = self.accesses.list.iter().map(|access| self.min_wavefronts(access)).sum();
        let numbers = [self.accesses.bytes(), self.accesses.list.len() as u64, total as u64, min_wavefronts as u64];
        [layout, self.name].iter().map(|text| (*text).to_owned()).chain(numbers.map(|n| n.to_string())).collect()
    }

    /// Draws the wavefronts of the access that has the most, one row per wavefront, one column per bank.
    pub(super) fn panel(&self, axes: &TensorAxes<'_>) -> Panel {
        let cost = |index: &usize| self.wavefronts(&self.accesses.list[*index]).len();
        let worst = (0..self.accesses.list.len()).rev().max_by_key(cost).unwrap_or(0);
        let Some(access) = self.accesses.list.get(worst) else { return Panel::note(self.name, ["none"]) };
        let wavefronts = self.wavefronts(access);
        let count = wavefronts.len();
        let phases = wavefronts.iter().enumerate().filter(|(_, wavefront)| wavefront.pass == 0);
        let phases = phases.map(|(row, wavefront)| (row, format!("phase {}", wavefront.phase)));
        let rows = GridAxis::new("wavefront", 0..count).with_bands(phases);
        let lanes = access.addresses.len() as u64;
        let cell = |row: usize, bank: usize| bank_cell(&wavefronts[row], bank, lanes, axes);
        let grid = Grid::from_fn(rows, GridAxis::new("bank", 0..self.row.banks), cell);
        let verdict = match count - self.min_wavefronts(access) {
            0 => "no conflicts".to_owned(),
            excess => format!("{excess} excess wavefronts"),
        };
        let (all, registers) = (self.accesses.list.len(), ranges(&access.registers));
        Panel::grid(format!("{}, {} bytes a lane", self.name, self.accesses.bytes()), grid)
            .with_caption_line(format!(
                "access {worst} of {all}, registers {registers}; wavefronts: {count}, {verdict}"
            ))
            .with_caption_line("in each cell the lanes that the bank serves; framed: bank conflict")
    }
}

fn bank_cell(wavefront: &Wavefront, bank: usize, lanes: u64, axes: &TensorAxes<'_>) -> Cell {
    let Some(word) = &wavefront.banks[bank] else {
        return Cell::default().with_fill(CellColour::from_tone(EmphasisColour::Quiet));
    };
    let first = word.lanes.first().copied().unwrap_or(0);
    let cell = Cell::new(ranges(&word.lanes))
        .with_fill(CellColour::from_index(first, lanes))
        .with_links(word.elements.iter().map(|&element| axes.element_link(element)))
        .with_related_groups(word.lanes.iter().map(|lane| format!("lane {lane}")))
        .with_tooltip_line(format!("bank {bank}, word {}", word.bank_word))
        .with_tooltip_line(format!("lanes {}", ranges(&word.lanes)))
        .with_tooltip_line(format!(
            "elements {}",
            join(word.elements.iter().map(|&element| axes.element_name(element)), "  ")
        ));
    if wavefront.pass > 0 { cell.with_frame(EmphasisColour::Bad) } else { cell }
}
