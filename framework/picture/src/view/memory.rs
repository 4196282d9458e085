//! A memory layout: its elements in the banks of a target, and the conflicts of accesses to it,
//! beside those without a swizzle and with the best one.

use tilewright_layout::f2::Subspace;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement;
use tilewright_plan::movement::Path;
use tilewright_target::{BankRow, Direction, TargetDescription};

use crate::access::{Access, Accesses, Question};
use crate::banks::Banked;
use crate::plane::{Plane, small_enough};
use crate::runs::ranges;
use crate::view::element_link;
use crate::wavefront::{Wavefront, wavefronts};
use crate::{Band, Cell, Fill, Grid, Panel, Picture, PictureError, Table, Tone};

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
    small_enough("the memory", view.memory.linear.ins().bits())?;
    let served = view.accessed(view.memory)?;
    let row = match served.first() {
        Some(served) => served.row,
        None => view.plain_row()?,
    };
    picture.caption.push(banks_in_words(row));
    let together = view.together(&served);
    let banked = Banked::new(view.memory, view.element_bits, row, together)?;
    let memory = Panel::grid("memory", banked.memory_grid()).caption("in each cell the element; colours are banks");
    picture.add(match banked.padding() {
        Some(padding) => memory.caption(padding),
        None => memory,
    });
    let tensor = Panel::grid("tensor", banked.tensor_grid());
    picture.add(tensor.caption("in each cell the offset in elements and the bank"));
    picture.start_row();
    let address = Panel::grid("bits of the offset", banked.address_grid()?);
    picture.add(match banked.padding() {
        Some(padding) => address.caption(format!("before {padding}")),
        None => address,
    });
    picture.add(Panel::table("the same as sums", banked.address_table()?));
    if !served.is_empty() {
        view.conflicts(&mut picture, &served, row)?;
    }
    Ok(picture)
}

/// The accesses of one direction, or of both where banks serve both alike.
pub(super) struct Served<'a> {
    name: &'static str,
    pub row: &'a BankRow,
    accesses: Accesses,
}

/// A layout to compare.
struct Variant {
    name: &'static str,
    memory: MemoryLayout,
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
        self.target.bank_row(direction, bits).ok_or_else(|| PictureError::NotDrawable {
            what: "the banks".to_owned(),
            reason: format!("target {} has no bank row for accesses of {bits} bits", self.target.name),
            remedy: "add one to its description".to_owned(),
        })
    }

    /// The accesses of warp 0 to a layout of the tensor.
    pub(super) fn accessed(&self, memory: &MemoryLayout) -> Result<Vec<Served<'a>>, PictureError> {
        let mut all: Vec<Served<'a>> = Vec::new();
        let sides = [("stores", Direction::Store, self.store), ("loads", Direction::Load, self.load)];
        for (name, direction, registers) in sides {
            let Some(registers) = registers else { continue };
            let question = Question {
                registers,
                memory,
                element_bits: self.element_bits,
                widths: &self.target.shared.access_bits,
                warp: 0,
                copies: direction == Direction::Load,
            };
            let accesses = question.answer()?;
            let row = self.row(direction, accesses.bits())?;
            match all.last_mut().filter(|_| self.store == self.load) {
                Some(both) if both.row == row && both.accesses == accesses => both.name = "stores and loads",
                _ => all.push(Served { name, row, accesses }),
            }
        }
        Ok(all)
    }

    /// The conflicts of this layout and of those that it is compared with.
    fn conflicts(&self, picture: &mut Picture, served: &[Served<'_>], row: &BankRow) -> Result<(), PictureError> {
        let variants = self.variants();
        let mut table = Table {
            header: ["layout", "access", "bytes a lane", "accesses", "wavefronts", "least"].map(str::to_owned).to_vec(),
            rows: served.iter().map(|served| served.summary("this one")).collect(),
        };
        let mut compared = Vec::new();
        for variant in &variants {
            let served = self.accessed(&variant.memory)?;
            table.rows.extend(served.iter().map(|served| served.summary(variant.name)));
            compared.push((variant, served));
        }
        picture.add(Panel::table("accesses of warp 0", table));
        picture.start_row();
        let plane = Plane::new(self.memory.linear.outs())?;
        for served in served {
            picture.add(served.panel(&plane));
        }
        for (variant, served) in &compared {
            picture.start_row();
            let banked = Banked::new(&variant.memory, self.element_bits, row, self.together(served))?;
            picture.add(Panel::grid(variant.name, banked.tensor_grid()));
            let plane = Plane::new(variant.memory.linear.outs())?;
            for served in served {
                picture.add(served.panel(&plane));
            }
        }
        Ok(())
    }

    /// The same tensor without swizzle and padding, and with the best swizzle, where these differ.
    fn variants(&self) -> Vec<Variant> {
        let plain = plain(&self.memory.linear).map(|memory| Variant { name: "without swizzle", memory });
        let best = self.best().map(|memory| Variant { name: "best swizzle", memory });
        let all = [plain, best].into_iter().flatten();
        all.filter(|variant| variant.memory.linear != self.memory.linear || !self.memory.padding.is_empty()).collect()
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
    let widths: Vec<_> = row.access_bits.iter().map(u32::to_string).collect();
    let phase = Subspace::span(row.phase.iter().copied()).dimension();
    format!(
        "{} banks of {} bytes; accesses of {} bits serve {} lanes at once",
        row.banks,
        row.bank_bytes,
        widths.join(", "),
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
    pub(super) fn panel(&self, plane: &Plane<'_>) -> Panel {
        let cost = |index: &usize| self.wavefronts(&self.accesses.list[*index]).len();
        let worst = (0..self.accesses.list.len()).rev().max_by_key(cost).unwrap_or(0);
        let Some(access) = self.accesses.list.get(worst) else { return Panel::note(self.name, ["none"]) };
        let wavefronts = self.wavefronts(access);
        let lanes = access.addresses.len() as u64;
        let mut grid = Grid::new(wavefronts.len(), self.row.banks as usize);
        grid.row_axis = "wavefront".to_owned();
        grid.column_axis = "bank".to_owned();
        grid.column_headings = (0..self.row.banks).map(|bank| bank.to_string()).collect();
        for (row, wavefront) in wavefronts.iter().enumerate() {
            grid.row_headings.push(row.to_string());
            if wavefront.turn == 0 {
                grid.row_bands.push(Band::new(row, format!("phase {}", wavefront.phase)));
            }
            for bank in 0..wavefront.banks.len() {
                grid.set(row, bank, bank_cell(wavefront, bank, lanes, plane));
            }
        }
        let least = self.least(access);
        let verdict = match wavefronts.len() - least {
            0 => "no conflicts".to_owned(),
            excess => format!("{excess} more than without conflicts"),
        };
        let title = format!("{}, {} bytes a lane", self.name, self.accesses.bytes());
        Panel::grid(title, grid)
            .caption(format!(
                "access {worst} of {}, registers {}; wavefronts: {}, {verdict}",
                self.accesses.list.len(),
                ranges(&access.registers),
                wavefronts.len()
            ))
            .caption("in each cell the lanes that the bank serves; framed: they had to wait")
    }
}

fn bank_cell(wavefront: &Wavefront, bank: usize, lanes: u64, plane: &Plane<'_>) -> Cell {
    let Some(word) = &wavefront.banks[bank] else { return Cell::default().fill(Fill::tone(Tone::Quiet)) };
    let first = word.lanes.first().copied().unwrap_or(0);
    let names: Vec<_> = word.elements.iter().map(|&element| plane.name(element)).collect();
    let mut cell = Cell::new(ranges(&word.lanes))
        .fill(Fill::hue(first, lanes))
        .hover(format!("bank {bank}, word {}", word.number))
        .hover(format!("lanes {}", ranges(&word.lanes)))
        .hover(format!("elements {}", names.join("  ")));
    for &element in &word.elements {
        cell = cell.link(element_link(&plane.coordinates(element)));
    }
    for lane in &word.lanes {
        cell = cell.kin(format!("lane {lane}"));
    }
    if wavefront.turn > 0 { cell.mark(Tone::Bad) } else { cell }
}
