//! Draws a layout conversion as data movement: the source and destination of every element, the distance between them,
//! and the shuffles or scratch memory of the plan.

use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{ConversionKind, ConversionPlan, ShuffleRounds};
use tilewright_target::TargetDescription;

use super::ColourBy;
use super::axes::TensorAxes;
use super::banks::BankDrawing;
use super::layout::{add_all, check_layout_size};
use super::memory::{MemoryPictureSpec, banks_in_words};
use super::origin::{ElementSources, HardwarePosition};
use super::positions::Positions;
use super::sliced::SlicedPlane;
use super::tensor::LayoutDrawing;
use crate::error::check_size;
use crate::text::join;
use crate::{Cell, CellColour, EmphasisColour, Grid, GridAxis, Panel, Picture, PictureError, TextTable};

/// The parameters of [`draw_conversion()`]: two distributed layouts of one tensor, and the plan that converts between
/// them.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ConversionPictureSpec<'a> {
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

impl<'a> ConversionPictureSpec<'a> {
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
pub fn draw_conversion(view: &ConversionPictureSpec<'_>) -> Result<Picture, PictureError> {
    let (src, dst) = (Layout::Distributed(view.src.clone()), Layout::Distributed(view.dst.clone()));
    check_layout_size(&src)?;
    check_layout_size(&dst)?;
    let origins = ElementSources::new(view.src, view.dst)?;
    let rounds = view.plan.shuffle_rounds();
    let mut picture = Picture::new(format!("{} on {}", view.name, view.target.name));
    picture.legend = key(&origins);
    picture.caption = vec![
        view.describe_path(),
        format!("of the elements, {}", join(picture.legend.iter().map(|(_, description)| description), "; ")),
        "T3:1 is lane 3, register 1; before: colours by lane; after: by how far an element moves".to_owned(),
    ];
    let ins = view.dst.ins();
    let paint = |input: u64| {
        let (scope, from) = origins.find_source(input);
        (scope.fill(), arrival(HardwarePosition::unpack(ins, input), from, rounds, view.dst))
    };
    let planes = [SlicedPlane::new(view.src.outs(), None)?, SlicedPlane::new(view.dst.outs(), None)?];
    let before = LayoutDrawing::new(view.src, &planes[0], Positions::new(&src, ColourBy::Lane))?;
    let after = LayoutDrawing::new(view.dst, &planes[1], Positions::new(&dst, ColourBy::Lane).with_paint(&paint))?;
    for slice in 0..planes[0].slices.count() {
        picture.start_row();
        add_all(
            &mut picture,
            vec![titled("before", before.draw_tensor_slice(slice)), titled("after", after.draw_tensor_slice(slice))],
        );
    }
    picture.add_panel(Panel::table("plan", numbers(view.plan)));
    // Hardware panels before and after, in one row if each is a single panel.
    let mut hardware = [("before", &before), ("after", &after)]
        .map(|(name, drawn)| drawn.draw_hardware().into_iter().map(|panel| titled(name, panel)).collect::<Vec<_>>());
    if let [[_], [_]] = hardware.each_ref().map(Vec::as_slice) {
        hardware = [hardware.concat(), Vec::new()];
    }
    for panels in hardware {
        picture.start_row();
        add_all(&mut picture, panels);
    }
    picture.start_row();
    if let Some(rounds) = rounds {
        picture.add_panel(view.shuffle(rounds)?);
    }
    view.add_scratch(&mut picture)?;
    Ok(picture)
}

/// Returns the legend: for each distance its colour, meaning and number of elements.
fn key(origins: &ElementSources) -> Vec<(CellColour, String)> {
    let counts = origins.count_by_scope();
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
fn numbers(plan: &ConversionPlan) -> TextTable {
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
    TextTable::new(["per warp", "plan", "bound"], rows)
}

impl ConversionPictureSpec<'_> {
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
        check_size("the tensor", self.dst.outs().total_bits())?;
        let axes = TensorAxes::new(self.dst.outs());
        let (row_axis, column_axis) = (GridAxis::new("round", 0..rounds.count()), GridAxis::new("lane", 0..lanes));
        let mut grid = Grid::from_fn(row_axis, column_axis, |round, lane| {
            let (round, lane) = (round as u64, lane as u64);
            let from = rounds.source_thread(round, lane) % lanes;
            Cell::new(from.to_string())
                .with_fill(if rounds.is_identity(round) {
                    CellColour::from_tone(EmphasisColour::Good)
                } else {
                    CellColour::from_index(from, lanes)
                })
                .with_related_group(format!("lane {lane}"))
                .with_tooltip_line(format!("round {round}: lane {lane} receives from lane {from}"))
        });
        let at = |dim, index: u64| self.dst.ins().shift_of(dim).map_or(0, |shift| index << shift);
        for (register, lane) in (0..registers).flat_map(|register| (0..lanes).map(move |lane| (register, lane))) {
            let element = self.dst.apply_packed(at(Dim::REGISTER, register) | at(Dim::LANE, lane));
            if let Some(cell) = grid.cell_mut(rounds.round_of_register(register, lane) as usize, lane as usize) {
                cell.links.push(axes.element_link(element));
                cell.hover.push(format!("register {register}: {}", axes.element_link(element)));
            }
        }
        let stays = (0..rounds.count()).filter(|&round| rounds.is_identity(round)).count();
        let panel = Panel::grid("shuffle rounds, warp 0", grid)
            .with_caption_line("in each cell the lane that a lane receives from");
        Ok(match stays {
            0 => panel,
            _ => panel.with_caption_line(format!(
                "green: {stays} rounds in which every lane keeps its word, without a shuffle"
            )),
        })
    }

    /// Draws the scratch memory over the banks of the target, and the accesses of warp 0 to it.
    fn add_scratch(&self, picture: &mut Picture) -> Result<(), PictureError> {
        let Some(swizzle) = self.plan.scratch_layout() else { return Ok(()) };
        let outs = self.src.outs();
        let bytes = self.plan.stats.shared_bytes;
        let filled = match self.plan.cluster_blocks() {
            1 if swizzle.columns.len() as u32 == outs.total_bits() => None,
            1 => Some(format!("{bytes} bytes of scratch hold one part of the tensor at a time")),
            blocks => Some(format!("{bytes} bytes of scratch in each of {blocks} blocks hold the block's elements")),
        };
        if let Some(filled) = filled {
            picture.add_panel(Panel::note("scratch memory", [filled]));
            return Ok(());
        }
        let ins = tilewright_layout::Space::from_sizes(&[(Dim::OFFSET, 1 << outs.total_bits())])?;
        let memory = MemoryLayout::from_linear(LinearLayout::from_columns(ins, outs.clone(), &swizzle.columns)?);
        let store = self.plan.stores_source_layout().then_some(self.src);
        let load = self.plan.loads_destination_layout().then_some(self.dst);
        let view = MemoryPictureSpec::new("scratch memory", &memory, self.element_bits, self.target);
        let view = view.with_store(store).with_load(load);
        let served = view.accessed(&memory)?;
        let Some(first) = served.first() else { return Ok(()) };
        let banked = BankDrawing::new(&memory, self.element_bits, first.row, view.together(&served))?;
        let scratch = Panel::grid("scratch memory", banked.draw_memory_grid());
        picture.add_panel(
            scratch
                .with_caption_line("in each cell the element; colours are banks")
                .with_caption_line(banks_in_words(first.row)),
        );
        picture.add_panel(Panel::grid("bits of the offset", banked.draw_address_matrix()?));
        let axes = TensorAxes::new(memory.linear.outs());
        picture.start_row();
        for served in &served {
            picture.add_panel(served.panel(&axes));
        }
        if store.is_none() {
            picture.add_panel(Panel::note(
                "stores",
                ["the stored elements are not those of the layout before: not drawn"],
            ));
        }
        if load.is_none() {
            picture.add_panel(Panel::note("loads", ["lanes shuffle the loaded words: not drawn"]));
        }
        Ok(())
    }
}
