//! A layout as two linked views: the tensor, and the hardware or memory that holds it.

use tilewright_layout::{Dim, Layout};

use super::colour_by::ColourBy;
use super::positions::Positions;
use super::sliced::SlicedPlane;
use super::tensor::Drawn;
use crate::error::MOST_BITS;
use crate::{Grid, Panel, Picture, PictureError};

/// Grids side by side, and columns of all of them together, before a new row of panels is begun.
const ABREAST: usize = 4;
const COLUMNS_ABREAST: usize = 256;

/// How a layout is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LayoutOptions {
    /// What the hues tell apart.
    pub colour: ColourBy,
    /// The axes that are rows and columns; `None` for the last two. Other axes are slices.
    pub plane: Option<(Dim, Dim)>,
}

/// The tensor view and the hardware view of a layout, side by side; the slices of a tensor of more
/// than two axes above the hardware. A tensor of one axis is wrapped into rows of 32; a memory layout
/// shows offsets, a layout of tensor memory rows and columns.
///
/// # Errors
/// More than 2^16 positions or elements, or more than 64 slices; axes that the tensor lacks.
pub fn layout(title: &str, layout: &Layout, options: &LayoutOptions) -> Result<Picture, PictureError> {
    check_layout_size(layout)?;
    let plane = SlicedPlane::new(layout.linear().outs(), options.plane)?;
    let drawn = Drawn::new(layout.linear(), &plane, Positions::new(layout, options.colour))?;
    let mut picture = Picture::new(title);
    picture.caption = drawn.positions.key();
    picture.caption.extend(drawn.copies_in_words());
    let slices: Vec<_> = (0..plane.slices.count()).map(|slice| drawn.tensor(slice)).collect();
    let hardware = drawn.hardware();
    let together = slices.len() == 1 && hardware.len() == 1;
    add_all(&mut picture, slices);
    if !together {
        picture.start_row();
    }
    add_all(&mut picture, hardware);
    Ok(picture)
}

/// Refuses layouts whose positions or elements are too many to draw.
pub(super) fn check_layout_size(layout: &Layout) -> Result<(), PictureError> {
    let linear = layout.linear();
    let bits = linear.ins().bits().max(linear.outs().bits());
    PictureError::limit("the layout", bits, MOST_BITS, "draw it for a smaller shape, or draw its matrix")
}

/// Adds panels in rows of as many as fit side by side.
pub(super) fn add_all(picture: &mut Picture, panels: Vec<Panel>) {
    let widest = panels.iter().filter_map(Panel::as_grid).map(Grid::columns).max().unwrap_or(1).max(1);
    let abreast = (COLUMNS_ABREAST / widest).clamp(1, ABREAST);
    for (index, panel) in panels.into_iter().enumerate() {
        if index > 0 && index % abreast == 0 {
            picture.start_row();
        }
        picture.add(panel);
    }
}
