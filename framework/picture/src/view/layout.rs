//! A layout as two linked views: the tensor, and the hardware or memory that holds it.

use tilewright_layout::{Dim, Layout};

use crate::{Content, Panel, Picture, PictureError};

use super::axes::Plane;
use super::colour_by::ColourBy;
use super::positions::Positions;
use super::tensor::Holders;
use super::{hardware, tensor};

/// Positions or elements beyond which nothing is drawn, as a power of two.
pub(super) const MOST_BITS: u32 = 16;

/// Grids side by side, and columns of all of them together, before a new row of panels is begun.
const ABREAST: usize = 4;
const COLUMNS_ABREAST: usize = 256;

/// How a layout is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LayoutOptions {
    /// What the hues tell apart.
    pub colour: ColourBy,
    /// The axes that are rows and columns; the last two where nothing is said. Other axes are slices.
    pub plane: Option<(Dim, Dim)>,
}

/// The tensor view and the hardware view of a layout, side by side; the slices of a tensor of more
/// than two axes above the hardware. A tensor of one axis is wrapped into rows of 32; a memory layout
/// shows offsets, a layout of tensor memory rows and columns.
///
/// # Errors
/// More than 2^16 positions or elements, or more than 64 slices; axes that the tensor lacks.
pub fn layout(title: &str, layout: &Layout, options: &LayoutOptions) -> Result<Picture, PictureError> {
    small_enough(layout)?;
    let linear = layout.linear();
    let plane = Plane::new(linear.outs(), options.plane)?;
    let positions = Positions::new(layout, options.colour);
    let holders = Holders::of(linear);
    let mut picture = Picture::new(title);
    picture.caption = positions.key();
    picture.caption.extend(said_of_copies(&holders));
    let slice = |number| tensor::panel(linear, &plane, &holders, &positions, number);
    let slices: Vec<_> = (0..plane.slice_count()).map(slice).collect();
    let hardware = hardware::panels(linear, &plane, &positions);
    let together = slices.len() == 1 && hardware.len() == 1;
    add_all(&mut picture, slices);
    if !together {
        picture.start_row();
    }
    add_all(&mut picture, hardware);
    Ok(picture)
}

/// Refuses layouts whose positions or elements are too many to draw.
pub(super) fn small_enough(layout: &Layout) -> Result<(), PictureError> {
    let linear = layout.linear();
    let bits = linear.ins().bits().max(linear.outs().bits());
    if bits <= MOST_BITS {
        return Ok(());
    }
    Err(PictureError::TooLarge {
        what: "the layout".to_owned(),
        bits,
        most: MOST_BITS,
        remedy: "draw it for a smaller shape, or draw its matrix".to_owned(),
    })
}

pub(super) fn add_all(picture: &mut Picture, panels: Vec<Panel>) {
    let columns = |panel: &Panel| if let Content::Grid(grid) = &panel.content { grid.columns() } else { 1 };
    let widest = panels.iter().map(columns).max().unwrap_or(1).max(1);
    let abreast = (COLUMNS_ABREAST / widest).clamp(1, ABREAST);
    for (index, panel) in panels.into_iter().enumerate() {
        if index > 0 && index % abreast == 0 {
            picture.start_row();
        }
        picture.add(panel);
    }
}

fn said_of_copies(holders: &Holders) -> Vec<String> {
    let mut lines = Vec::new();
    if holders.copies() > 1 {
        lines.push(format!("every element is held {} times: cells name the first holder", holders.copies()));
    }
    if holders.missing() > 0 {
        lines.push(format!("{} elements are held by nobody", holders.missing()));
    }
    lines
}
