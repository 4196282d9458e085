//! Draws the differences between two layouts of one tensor.

use tilewright_layout::{Dim, Layout, LinearLayout};

use super::LayoutDrawingOptions;
use super::layout::check_layout_size;
use super::matrix::{bits, coordinates, draw_f2_matrix_grid, is_one};
use super::positions::Positions;
use super::sliced::SlicedPlane;
use super::tensor::LayoutDrawing;
use crate::text::join;
use crate::{CellColour, EmphasisColour, Grid, Panel, PanelContent, Picture, PictureError, TextTable};

/// Draws two layouts side by side. A cell shows the positions of a tensor element, in a colour for whether both layouts
/// agree on them. The first element that differs, in row-major order, is marked. Below are the matrices of both
/// layouts, with the basis vectors that differ highlighted.
///
/// # Errors
/// [`PictureError`] if the tensor shapes differ, a layout is too large, or the plane has axes that the tensor lacks.
pub fn draw_difference(
    title: &str,
    left: (&str, &Layout),
    right: (&str, &Layout),
    options: &LayoutDrawingOptions,
) -> Result<Picture, PictureError> {
    check_same_tensor(left, right)?;
    let plane = SlicedPlane::new(left.1.linear().outs(), options.plane)?;
    let sides = [Side::new(left, &plane, options)?, Side::new(right, &plane, options)?];
    let found = Differences::between(&sides, &plane);
    let mut picture = Picture::new(title);
    picture.caption.push(found.summary(&sides, &plane));
    picture.legend = vec![(CellColour::from_tone(EmphasisColour::Good), "the same in both".to_owned())];
    if found.first.is_some() {
        picture.legend.push((CellColour::from_tone(EmphasisColour::Warn), "different".to_owned()));
        picture
            .legend
            .push((CellColour::from_tone(EmphasisColour::Bad), "the first element that differs (frame)".to_owned()));
    }
    for slice in 0..plane.slices.count() {
        for side in &sides {
            picture.add_panel(side.tensor(slice, &plane, &found));
        }
        picture.start_row();
    }
    let [left, right] = [&sides[0], &sides[1]];
    for (side, other) in [(left, right), (right, left)] {
        picture.add_panel(Panel::grid(format!("{}: matrix", side.name), marked_matrix(side.linear, other.linear)));
    }
    let table = different_bases(left, right);
    if !table.rows.is_empty() {
        picture.add_panel(Panel::table("bases that differ", table));
    }
    Ok(picture)
}

fn check_same_tensor(left: (&str, &Layout), right: (&str, &Layout)) -> Result<(), PictureError> {
    let [shape, other] = [left.1, right.1].map(|layout| {
        let mut axes: Vec<_> = layout.linear().outs().iter().collect();
        axes.sort();
        axes
    });
    if shape == other {
        return Ok(());
    }
    let description = |shape: &[(Dim, u32)]| join(shape.iter().map(|(dim, bits)| format!("{dim} 2^{bits}")), " x ");
    Err(PictureError::not_drawable(
        format!("the difference of {} and {}", left.0, right.0),
        format!("one is of a tensor of {}, the other of {}", description(&shape), description(&other)),
        "give both for one shape",
    ))
}

/// One of the two compared layouts.
struct Side<'a> {
    name: &'a str,
    linear: &'a LinearLayout,
    drawn: LayoutDrawing<'a>,
}

impl<'a> Side<'a> {
    fn new(
        (name, layout): (&'a str, &'a Layout),
        plane: &'a SlicedPlane<'a>,
        options: &LayoutDrawingOptions,
    ) -> Result<Self, PictureError> {
        check_layout_size(layout)?;
        let linear = layout.linear();
        Ok(Self { name, linear, drawn: LayoutDrawing::new(linear, plane, Positions::new(layout, options.colour))? })
    }

    /// Returns the positions (register, lane, warp, block, or memory offset) that hold an element, each as its
    /// coordinates along the dims of more than one position; both lists are sorted, so that those of two layouts can be
    /// compared.
    fn holders(&self, element: u64) -> Vec<Vec<(Dim, u64)>> {
        let ins = self.linear.ins();
        let packed = |&input: &u64| sorted(ins.unpack(input).filter(|&(dim, _)| ins.bits_of(dim) > 0));
        sorted(self.drawn.positions_of_element(element).iter().map(packed))
    }

    fn description(&self, element: u64) -> String {
        let positions = &self.drawn.positions;
        match self.drawn.positions_of_element(element) {
            [] => "nobody".to_owned(),
            [one] => positions.description(*one),
            [one, more @ ..] => format!("{} and {} more", positions.description(*one), more.len()),
        }
    }

    fn tensor(&self, slice: usize, plane: &SlicedPlane<'_>, found: &Differences) -> Panel {
        let mut panel = self.drawn.draw_tensor_slice(slice);
        panel.title = format!("{}: {}", self.name, panel.title);
        if let PanelContent::Grid(grid) = &mut panel.content {
            for (row, column, cell) in grid.cells_mut() {
                let element = plane.element_at(slice, row, column);
                cell.fill = CellColour::from_tone(if found.differs[element as usize] {
                    EmphasisColour::Warn
                } else {
                    EmphasisColour::Good
                });
                cell.mark = (found.first == Some(element)).then_some(EmphasisColour::Bad);
            }
        }
        panel
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<_> = items.collect();
    all.sort_unstable();
    all
}

/// The elements on which two layouts differ.
struct Differences {
    /// For each element, by its packed coordinates: whether the two layouts hold it at different positions.
    differs: Vec<bool>,
    /// The packed coordinates of the first element, in row-major order, that the two layouts hold at different
    /// positions; `None` if there is none.
    first: Option<u64>,
}

impl Differences {
    fn between([left, right]: &[Side<'_>; 2], plane: &SlicedPlane<'_>) -> Self {
        let elements = 0..1u64 << plane.axes.space.total_bits();
        let differs: Vec<_> = elements.clone().map(|element| left.holders(element) != right.holders(element)).collect();
        let first = elements.filter(|&element| differs[element as usize]);
        let first = first.min_by_key(|&element| plane.axes.element_coordinates(element));
        Self { differs, first }
    }

    fn summary(&self, sides: &[Side<'_>; 2], plane: &SlicedPlane<'_>) -> String {
        let all = self.differs.len();
        let Some(first) = self.first else {
            return match sides[0].linear == sides[1].linear {
                true => format!("the same map: all {all} elements have the same positions"),
                false => format!("all {all} elements have the same positions; only the dims are listed differently"),
            };
        };
        let count = self.differs.iter().filter(|&&differs| differs).count();
        let [left, right] = sides.each_ref().map(|side| format!("{}: {}", side.name, side.description(first)));
        let name = plane.axes.element_name(first);
        format!("{count} of {all} elements differ; the first is {name}: {left}, {right}")
    }
}

/// Draws the matrix of `linear`, with the columns highlighted whose basis vector differs from that of `other` at the
/// same input bit.
fn marked_matrix(linear: &LinearLayout, other: &LinearLayout) -> Grid {
    let mut grid = draw_f2_matrix_grid(linear);
    let same = bits(linear.ins()).into_iter().map(|(dim, bit)| basis(linear, dim, bit) == basis(other, dim, bit));
    let same: Vec<bool> = same.collect();
    for (row, column, cell) in grid.cells_mut() {
        cell.fill = CellColour::from_tone(match (same[column], is_one(linear, row, column)) {
            (true, true) => EmphasisColour::Strong,
            (true, false) => EmphasisColour::Good,
            (false, true) => EmphasisColour::Bad,
            (false, false) => EmphasisColour::Warn,
        });
    }
    grid
}

/// Returns the basis vector of bit `bit` of `dim` as coordinates sorted by axis, whatever the order of the out dims;
/// `None` if `dim` has no such bit.
fn basis(linear: &LinearLayout, dim: Dim, bit: u32) -> Option<Vec<(Dim, u64)>> {
    Some(sorted(linear.outs().unpack(*linear.columns_of(dim).get(bit as usize)?)))
}

fn different_bases(left: &Side<'_>, right: &Side<'_>) -> TextTable {
    let mut dims: Vec<_> = left.linear.ins().dims().collect();
    dims.extend(right.linear.ins().dims().filter(|dim| !left.linear.ins().contains(*dim)));
    let description = |image: Option<Vec<(Dim, u64)>>| image.map_or_else(|| "-".to_owned(), coordinates);
    let mut rows = Vec::new();
    for dim in dims {
        for bit in 0..left.linear.in_bits(dim).max(right.linear.in_bits(dim)) {
            let (a, b) = (basis(left.linear, dim, bit), basis(right.linear, dim, bit));
            if a != b {
                rows.push(vec![format!("{dim} {}", 1u64 << bit), description(a), description(b)]);
            }
        }
    }
    TextTable::new(["basis", left.name, right.name], rows)
}
