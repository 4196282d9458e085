//! Two layouts of one tensor against each other.

use tilewright_layout::{Dim, Layout, LinearLayout};

use crate::{Content, Fill, Grid, Panel, Picture, PictureError, Table, Tone};

use super::axes::Plane;
use super::positions::Positions;
use super::tensor::{self, Holders};
use super::{LayoutOptions, matrix_grid};

/// Two layouts side by side: each element's cell says who holds it and whether that is the same in
/// both, the first element that differs is marked in both, and below stand the two matrices with the
/// bases that differ. Elements are compared in the order of the tensor's axes, the last one fastest.
///
/// # Errors
/// Tensors of different shapes; as [`super::layout()`].
pub fn difference(
    title: &str,
    left: (&str, &Layout),
    right: (&str, &Layout),
    options: &LayoutOptions,
) -> Result<Picture, PictureError> {
    same_tensor(left, right)?;
    let outs = left.1.linear().outs();
    let plane = Plane::new(outs, options.plane)?;
    let sides = [Side::new(left, options)?, Side::new(right, options)?];
    let found = Differences::between(&sides[0], &sides[1], &plane);
    let mut picture = Picture::new(title);
    picture.caption.push(found.summary(&sides, &plane, outs));
    picture.legend = vec![(Fill::tone(Tone::Good), "the same in both".to_owned())];
    if found.first.is_some() {
        picture.legend.push((Fill::tone(Tone::Warn), "different".to_owned()));
        picture.legend.push((Fill::tone(Tone::Bad), "the first element that differs (frame)".to_owned()));
    }
    for slice in 0..plane.slice_count() as usize {
        if slice > 0 {
            picture.start_row();
        }
        for side in &sides {
            picture.add(side.panel(slice, &plane, &found));
        }
    }
    picture.start_row();
    for (side, other) in [(&sides[0], &sides[1]), (&sides[1], &sides[0])] {
        picture.add(Panel::grid(format!("{}: matrix", side.name), marked_matrix(side.linear, other.linear)));
    }
    let table = bases(&sides[0], &sides[1]);
    if !table.rows.is_empty() {
        picture.add(Panel::table("bases that differ", table));
    }
    Ok(picture)
}

fn same_tensor(left: (&str, &Layout), right: (&str, &Layout)) -> Result<(), PictureError> {
    let shape = |layout: &Layout| {
        let mut axes: Vec<_> = layout.linear().outs().iter().collect();
        axes.sort();
        axes
    };
    if shape(left.1) == shape(right.1) {
        return Ok(());
    }
    let said = |layout: &Layout| {
        shape(layout).iter().map(|(dim, bits)| format!("{dim} 2^{bits}")).collect::<Vec<_>>().join(" x ")
    };
    Err(PictureError::NotDrawable {
        what: format!("the difference of {} and {}", left.0, right.0),
        reason: format!("one is of a tensor of {}, the other of {}", said(left.1), said(right.1)),
        remedy: "give both for one shape".to_owned(),
    })
}

/// One of the two layouts.
struct Side<'a> {
    name: &'a str,
    linear: &'a LinearLayout,
    holders: Holders,
    positions: Positions<'a>,
}

impl<'a> Side<'a> {
    fn new((name, layout): (&'a str, &'a Layout), options: &LayoutOptions) -> Result<Self, PictureError> {
        super::layout::small_enough(layout)?;
        let linear = layout.linear();
        Ok(Self { name, linear, holders: Holders::of(linear), positions: Positions::new(layout, options.colour) })
    }

    /// Who holds an element: positions by dim, those of size one left out. Axes of the two layouts may
    /// be listed in different orders, so elements are named by coordinates.
    fn holders_of(&self, coordinates: &[(Dim, u64)]) -> Vec<Vec<(Dim, u64)>> {
        let element = self.linear.outs().pack(coordinates).unwrap_or(0);
        let place = |&input: &u64| {
            let ins = self.linear.ins();
            let mut place: Vec<_> = ins.unpack(input).filter(|&(dim, _)| ins.bits_of(dim) > 0).collect();
            place.sort_unstable();
            place
        };
        let mut all: Vec<_> = self.holders.at(element).iter().map(place).collect();
        all.sort_unstable();
        all
    }

    fn said(&self, coordinates: &[(Dim, u64)]) -> String {
        let held = self.holders.at(self.linear.outs().pack(coordinates).unwrap_or(0));
        match held {
            [] => "nobody".to_owned(),
            [one] => self.positions.said(*one),
            [one, more @ ..] => format!("{} and {} more", self.positions.said(*one), more.len()),
        }
    }

    fn panel(&self, slice: usize, plane: &Plane, found: &Differences) -> Panel {
        let mut panel = tensor::panel(self.linear, plane, &self.holders, &self.positions, slice as u64);
        panel.title = format!("{}: {}", self.name, panel.title);
        if let Content::Grid(grid) = &mut panel.content {
            found.paint(grid, slice);
        }
        panel
    }
}

/// Where two layouts differ: slice, row and column of every element that does, in order.
struct Differences {
    places: Vec<(usize, usize, usize)>,
    first: Option<Vec<(Dim, u64)>>,
    first_place: Option<(usize, usize, usize)>,
}

impl Differences {
    fn between(left: &Side<'_>, right: &Side<'_>, plane: &Plane) -> Self {
        let outs = left.linear.outs();
        let mut found = Self { places: Vec::new(), first: None, first_place: None };
        let mut least: Option<Vec<u64>> = None;
        for slice in 0..plane.slice_count() {
            let fixed = plane.slice(slice);
            for row in 0..1u64 << plane.rows.bits {
                for column in 0..1u64 << plane.columns.bits {
                    let element = plane.element(outs, &fixed, row, column);
                    let coordinates: Vec<_> = outs.unpack(element).collect();
                    if left.holders_of(&coordinates) == right.holders_of(&coordinates) {
                        continue;
                    }
                    let place = (slice as usize, row as usize, column as usize);
                    found.places.push(place);
                    let order = plane.coordinates(outs, element);
                    if least.as_ref().is_none_or(|least| order < *least) {
                        (found.first, found.first_place, least) = (Some(coordinates), Some(place), Some(order));
                    }
                }
            }
        }
        found
    }

    fn paint(&self, grid: &mut Grid, slice: usize) {
        for row in 0..grid.rows() {
            for column in 0..grid.columns() {
                let place = (slice, row, column);
                let differs = self.places.binary_search(&place).is_ok();
                if let Some(cell) = grid.cell_mut(row, column) {
                    cell.fill = Fill::tone(if differs { Tone::Warn } else { Tone::Good });
                    cell.mark = (self.first_place == Some(place)).then_some(Tone::Bad);
                }
            }
        }
    }

    fn summary(&self, sides: &[Side<'_>; 2], plane: &Plane, outs: &tilewright_layout::Space) -> String {
        let all = 1u64 << outs.bits();
        let Some(first) = &self.first else {
            return match sides[0].linear == sides[1].linear {
                true => format!("the same map: all {all} elements are held alike"),
                false => format!("all {all} elements are held alike; only the dims are listed differently"),
            };
        };
        let element = outs.pack(first).unwrap_or(0);
        let names: Vec<_> = plane.coordinates(outs, element).iter().map(u64::to_string).collect();
        let [left, right] = sides.each_ref().map(|side| format!("{}: {}", side.name, side.said(first)));
        format!("{} of {all} elements differ; the first is {}: {left}, {right}", self.places.len(), names.join(","))
    }
}

/// A matrix whose columns that the other layout has otherwise, or not at all, are coloured.
fn marked_matrix(linear: &LinearLayout, other: &LinearLayout) -> Grid {
    let mut grid = matrix_grid(linear);
    let bits = linear.ins().iter().flat_map(|(dim, bits)| (0..bits as usize).map(move |bit| (dim, bit)));
    for (column, (dim, bit)) in bits.enumerate() {
        let same = basis(linear, dim, bit) == basis(other, dim, bit);
        let (one, zero) = if same { (Tone::Strong, Tone::Good) } else { (Tone::Bad, Tone::Warn) };
        for row in 0..grid.rows() {
            let is_one = linear.columns()[column] >> row & 1 == 1;
            if let Some(cell) = grid.cell_mut(row, column) {
                cell.fill = Fill::tone(if is_one { one } else { zero });
            }
        }
    }
    grid
}

/// The image of a basis, axis by axis in one order for all layouts; none where the dim has no such bit.
fn basis(linear: &LinearLayout, dim: Dim, bit: usize) -> Option<Vec<(Dim, u64)>> {
    let mut image: Vec<_> = linear.outs().unpack(*linear.columns_of(dim).get(bit)?).collect();
    image.sort_unstable();
    Some(image)
}

fn bases(left: &Side<'_>, right: &Side<'_>) -> Table {
    let header = vec!["basis".to_owned(), left.name.to_owned(), right.name.to_owned()];
    let mut dims: Vec<_> = left.linear.ins().dims().collect();
    dims.extend(right.linear.ins().dims().filter(|dim| !left.linear.ins().contains(*dim)));
    let said = |image: Option<Vec<(Dim, u64)>>| match image {
        None => "-".to_owned(),
        Some(image) => image.iter().map(|(dim, at)| format!("{dim} {at}")).collect::<Vec<_>>().join(", "),
    };
    let mut rows = Vec::new();
    for dim in dims {
        for bit in 0..left.linear.in_bits(dim).max(right.linear.in_bits(dim)) as usize {
            let (a, b) = (basis(left.linear, dim, bit), basis(right.linear, dim, bit));
            if a != b {
                rows.push(vec![format!("{dim} {}", 1u64 << bit), said(a), said(b)]);
            }
        }
    }
    Table { header, rows }
}
