//! Draws a layout as two linked views: the tensor, and its hardware positions or memory.

use tilewright_layout::{Dim, Layout};

use super::colour_by::ColourBy;
use super::positions::Positions;
use super::sliced::SlicedPlane;
use super::tensor::LayoutDrawing;
use crate::error::MOST_BITS;
use crate::{Grid, Panel, Picture, PictureError};

/// Max number of grids in one row of panels.
const ABREAST: usize = 4;
/// Max total number of columns of the grids in one row of panels.
const COLUMNS_ABREAST: usize = 256;

/// Options of [`draw_layout()`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LayoutDrawingOptions {
    /// The index (lane, warp or register) that the hue shows.
    pub colour: ColourBy,
    /// The two axes drawn as rows and columns; `None` for the last two. The other axes become slices.
    pub plane: Option<(Dim, Dim)>,
}

/// Draws the tensor view and the hardware view of a layout. A tensor of more than two axes is drawn as a row of slices
/// above the hardware view; a tensor of one axis is wrapped into rows of 32. For a memory layout cells show offsets,
/// for a layout of tensor memory rows and columns.
///
/// # Errors
/// [`PictureError`] if the layout has more than 2^16 positions or elements, or more than 64 slices, or if `plane` names
/// axes that the tensor lacks.
pub fn draw_layout(title: &str, layout: &Layout, options: &LayoutDrawingOptions) -> Result<Picture, PictureError> {
    check_layout_size(layout)?;
    let plane = SlicedPlane::new(layout.linear().outs(), options.plane)?;
    let drawn = LayoutDrawing::new(layout.linear(), &plane, Positions::new(layout, options.colour))?;
    let mut picture = Picture::new(title);
    picture.caption = drawn.positions.legend_lines();
    picture.caption.extend(drawn.describe_replicas());
    let slices: Vec<_> = (0..plane.slices.count()).map(|slice| drawn.draw_tensor_slice(slice)).collect();
    let hardware = drawn.draw_hardware();
    let together = slices.len() == 1 && hardware.len() == 1;
    add_all(&mut picture, slices);
    if !together {
        picture.start_row();
    }
    add_all(&mut picture, hardware);
    Ok(picture)
}

/// Returns an error for a layout with too many positions or elements.
pub(super) fn check_layout_size(layout: &Layout) -> Result<(), PictureError> {
    let linear = layout.linear();
    let bits = linear.ins().total_bits().max(linear.outs().total_bits());
    PictureError::limit("the layout", bits, MOST_BITS, "draw it for a smaller shape, or draw its matrix")
}

/// Adds panels in rows, as many per row as fit.
pub(super) fn add_all(picture: &mut Picture, panels: Vec<Panel>) {
    let widest = panels.iter().filter_map(Panel::as_grid).map(Grid::columns).max().unwrap_or(1).max(1);
    let abreast = (COLUMNS_ABREAST / widest).clamp(1, ABREAST);
    for (index, panel) in panels.into_iter().enumerate() {
        if index > 0 && index % abreast == 0 {
            picture.start_row();
        }
        picture.add_panel(panel);
    }
}
