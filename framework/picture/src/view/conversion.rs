//! Draws a layout conversion as data movement: the source and destination of every element, the distance between them,
//! and the shuffles or scratch memory of the plan.

use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{ConversionKind, ConversionPlan, ShuffleRounds};
use tilewright_target::TargetDescription;

use super::ColourBy;
use super::axes::Axes;
use super::banks::Banked;
use super::layout::{add_all, check_layout_size};
use super::memory::{MemoryView, banks_in_words};
use super::origin::{HardwarePosition, Origins};
use super::positions::Positions;
use super::sliced::SlicedPlane;
use super::tensor::Drawn;
use crate::error::check_size;
use crate::text::join;
use crate::{Axis, Cell, Fill, Grid, Panel, Picture, PictureError, Table, Tone};

/// The parameters of [`conversion()`]: two distributed layouts of one tensor, and the plan that converts between them.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConversionView<'a> {
    /// Name of the conversion, for the title.
    pub name: &'a str,
    /// Distributed layout of the tensor before the conversion.
    pub src: &'a LinearLayout,
    /// Distributed layout of the tensor after the conversion.
    pub dst: &'a LinearLayout,
    /// Width of an element in bits.
    pub element_bits: u32,
    /// The target that the conversion was planned for.
    pub target: &'a TargetDescription,
    /// The plan of the conversion.
    pub plan: &'a ConversionPlan,
}

impl<'a> ConversionView<'a> {
    /// Creates the parameters for a conversion from `src` to `dst`, with a plan for these layouts and this target.
    #[must_use]
    pub fn new(
        name: &'a str,
        [src, dst]: [&'a LinearLayout; 2],
        element_bits: u32,
        target: &'a TargetDescription,
        plan: &'a ConversionPlan,
    ) -> Self {
        Self { name, src, dst, element_bits, target, plan }
    }
}

/// Draws a conversion: the tensor and the hardware before and after, where colours after show the distance that each
/// element moves; the plan's operation counts; and its rounds of shuffles, or its scratch memory with the accesses of
/// warp 0.
///
/// # Errors
/// [`PictureError`] if layouts are too large, or of different tensors.
pub fn conversion(view: &ConversionView<'_>) -> Result<Picture, PictureError> {
    let (src, dst) = (Layout::Distributed(view.src.clone()), Layout::Distributed(view.dst.clone()));
    check_layout_size(&src)?;
    check_layout_size(&dst)?;
    let origins = Origins::new(view.src, view.dst)?;
    let rounds = view.plan.rounds();
    let mut picture = Picture::new(format!("{} on {}", view.name, view.target.name));
    picture.legend = key(&origins);
    picture.caption = vec![
        view.describe_path(),
        format!("of the elements, {}", join(picture.legend.iter().map(|(_, description)| description), "; ")),
        "T3:1 is lane 3, register 1; before: colours by lane; after: by how far an element moves".to_owned(),
    ];
    let ins = view.dst.ins();
    let paint = |input: u64| {
        let (scope, from) = origins.of(input);
        (scope.fill(), arrival(HardwarePosition::of(ins, input), from, rounds, view.dst))
    };
    let planes = [SlicedPlane::new(view.src.outs(), None)?, SlicedPlane::new(view.dst.outs(), None)?];
    let before = Drawn::new(view.src, &planes[0], Positions::new(&src, ColourBy::Lane))?;
    let after = Drawn::new(view.dst, &planes[1], Positions::new(&dst, ColourBy::Lane).painted(&paint))?;
    for slice in 0..planes[0].slices.count() {
        picture.start_row();
        add_all(&mut picture, vec![titled("before", before.tensor(slice)), titled("after", after.tensor(slice))]);
    }
    picture.add(Panel::table("plan", numbers(view.plan)));
    // Hardware panels before and after, in one row if each is a single panel.
    let mut hardware = [("before", &before), ("after", &after)]
        .map(|(name, drawn)| drawn.hardware().into_iter().map(|panel| titled(name, panel)).collect::<Vec<_>>());
    if let [[_], [_]] = hardware.each_ref().map(Vec::as_slice) {
        hardware = [hardware.concat(), Vec::new()];
    }
    for panels in hardware {
        picture.start_row();
        add_all(&mut picture, panels);
    }
    picture.start_row();
    if let Some(rounds) = rounds {
        picture.add(view.shuffle(rounds)?);
    }
    view.add_scratch(&mut picture)?;
    Ok(picture)
}

/// Returns the legend: for each distance its colour, meaning and number of elements.
fn key(origins: &Origins) -> Vec<(Fill, String)> {
    let counts = origins.counts();
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    counts
        .into_iter()
        .map(|(scope, count)| (scope.fill(), format!("{}: {count} of {all}", scope.description())))
        .collect()
}

fn titled(name: &str, panel: Panel) -> Panel {
    Panel { title: format!("{name}: {}", panel.title), ..panel }
}

/// Returns the tooltip of the position `here` in the destination layout: the source position `from` of its element, and
/// the round of shuffles that moves the element, if there are rounds.
fn arrival(
    here: HardwarePosition,
    from: Option<HardwarePosition>,
    rounds: Option<ShuffleRounds<'_>>,
    dst: &LinearLayout,
) -> String {
    let Some(from) = from else { return "from nowhere".to_owned() };
    let mut description = format!("from lane {} register {}", from.lane, from.register);
    if from.warp != here.warp {
        description += &format!(" of warp {}", from.warp);
    }
    if from.block != here.block {
        description += &format!(" of block {}", from.block);
    }
    if let Some(rounds) = rounds {
        let thread = here.lane | here.warp << dst.in_bits(Dim::LANE);
        description += &format!(", round {}", rounds.round_of_register(here.register, thread));
    }
    description
}

/// Returns a table of the plan's operation counts and lower bounds.
fn numbers(plan: &ConversionPlan) -> Table {
    let (counts, bound) = (plan.stats.counts, plan.stats.bound);
    let rows = [
        ("shuffles", counts.shuffles, Some(bound.shuffles)),
        ("selects", counts.selects, None),
        ("byte permutes", counts.permutes, None),
        ("shared stores", counts.shared_stores, None),
        ("shared loads", counts.shared_loads, None),
        ("matrix stores", counts.matrix_stores, None),
        ("matrix loads", counts.matrix_loads, None),
        ("wavefronts stored", counts.wavefronts_stored, Some(bound.wavefronts_stored)),
        ("wavefronts loaded", counts.wavefronts_loaded, Some(bound.wavefronts_loaded)),
        ("warp barriers", counts.warp_barriers, None),
        ("block barriers", counts.barriers, None),
        ("cluster barriers", counts.cluster_barriers, None),
    ];
    let shown = rows.into_iter().filter(|&(_, count, bound)| count > 0 || bound.is_some_and(|bound| bound > 0));
    let row = |(name, count, bound): (&str, u64, Option<u64>)| {
        vec![name.to_owned(), count.to_string(), bound.map_or_else(String::new, |bound| bound.to_string())]
    };
    let mut rows: Vec<_> = shown.map(row).collect();
    if plan.stats.shared_bytes > 0 {
        rows.push(vec!["shared bytes of the block".to_owned(), plan.stats.shared_bytes.to_string()]);
    }
    rows.push(vec!["cycles of the block".to_owned(), format!("{:.0}", plan.stats.cost)]);
    Table::new(["per warp", "plan", "bound"], rows)
}

impl ConversionView<'_> {
    fn describe_path(&self) -> String {
        let path = match self.plan.path {
            ConversionKind::None => "no data movement",
            ConversionKind::Register => "registers of each lane are renamed",
            ConversionKind::Shuffle => "shuffles within each warp",
            ConversionKind::Shared => "through shared memory",
            ConversionKind::Cluster => "through the shared memory of the cluster's blocks",
            ConversionKind::Mixed => "partly by shuffles, partly through shared memory",
        };
        match &self.plan.stats.above_bound {
            Some(reason) => format!("{path}; above the bound: {reason}"),
            None => path.to_owned(),
        }
    }

    /// Draws the shuffles of warp 0: one row for each round, one column for each lane; a cell has the lane from which
    /// the column's lane receives.
    fn shuffle(&self, rounds: ShuffleRounds<'_>) -> Result<Panel, PictureError> {
        let (lanes, registers) = (1u64 << self.dst.in_bits(Dim::LANE), 1u64 << self.dst.in_bits(Dim::REGISTER));
        check_size("the tensor", self.dst.outs().bits())?;
        let axes = Axes::new(self.dst.outs());
        let (row_axis, column_axis) = (Axis::new("round", 0..rounds.count()), Axis::new("lane", 0..lanes));
        let mut grid = Grid::of(row_axis, column_axis, |round, lane| {
            let (round, lane) = (round as u64, lane as u64);
            let from = rounds.source(round, lane) % lanes;
            Cell::new(from.to_string())
                .fill(if rounds.stays(round) { Fill::tone(Tone::Good) } else { Fill::hue(from, lanes) })
                .kin(format!("lane {lane}"))
                .hover(format!("round {round}: lane {lane} receives from lane {from}"))
        });
        let at = |dim, index: u64| self.dst.ins().shift_of(dim).map_or(0, |shift| index << shift);
        for (register, lane) in (0..registers).flat_map(|register| (0..lanes).map(move |lane| (register, lane))) {
            let element = self.dst.apply_packed(at(Dim::REGISTER, register) | at(Dim::LANE, lane));
            if let Some(cell) = grid.cell_mut(rounds.round_of_register(register, lane) as usize, lane as usize) {
                cell.links.push(axes.link(element));
                cell.hover.push(format!("register {register}: {}", axes.link(element)));
            }
        }
        let stays = (0..rounds.count()).filter(|&round| rounds.stays(round)).count();
        let panel =
            Panel::grid("shuffle rounds, warp 0", grid).caption("in each cell the lane that a lane receives from");
        Ok(match stays {
            0 => panel,
            _ => panel.caption(format!("green: {stays} rounds in which every lane keeps its word, without a shuffle")),
        })
    }

    /// Draws the scratch memory over the banks of the target, and the accesses of warp 0 to it.
    fn add_scratch(&self, picture: &mut Picture) -> Result<(), PictureError> {
        let Some(swizzle) = self.plan.scratch_layout() else { return Ok(()) };
        let outs = self.src.outs();
        let bytes = self.plan.stats.shared_bytes;
        let filled = match self.plan.blocks() {
            1 if swizzle.columns.len() as u32 == outs.bits() => None,
            1 => Some(format!("{bytes} bytes of scratch hold one part of the tensor at a time")),
            blocks => Some(format!("{bytes} bytes of scratch in each of {blocks} blocks hold the block's elements")),
        };
        if let Some(filled) = filled {
            picture.add(Panel::note("scratch memory", [filled]));
            return Ok(());
        }
        let ins = tilewright_layout::Space::of_sizes(&[(Dim::OFFSET, 1 << outs.bits())])?;
        let memory = MemoryLayout::linear(LinearLayout::from_columns(ins, outs.clone(), &swizzle.columns)?);
        let store = self.plan.stores_source().then_some(self.src);
        let load = self.plan.loads_destination().then_some(self.dst);
        let view = MemoryView::new("scratch memory", &memory, self.element_bits, self.target);
        let view = view.with_store(store).with_load(load);
        let served = view.accessed(&memory)?;
        let Some(first) = served.first() else { return Ok(()) };
        let banked = Banked::new(&memory, self.element_bits, first.row, view.together(&served))?;
        let scratch = Panel::grid("scratch memory", banked.memory_grid());
        picture.add(scratch.caption("in each cell the element; colours are banks").caption(banks_in_words(first.row)));
        picture.add(Panel::grid("bits of the offset", banked.address_grid()?));
        let axes = Axes::new(memory.linear.outs());
        picture.start_row();
        for served in &served {
            picture.add(served.panel(&axes));
        }
        if store.is_none() {
            picture.add(Panel::note("stores", ["the stored elements are not those of the layout before: not drawn"]));
        }
        if load.is_none() {
            picture.add(Panel::note("loads", ["lanes shuffle the loaded words: not drawn"]));
        }
        Ok(())
    }
}
