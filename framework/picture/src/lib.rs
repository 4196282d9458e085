//! Pictures of tensor layouts: one model, three ways to draw it, and the views that fill it.
//!
//! A view turns what it shows into a [`Picture`]; a renderer turns any picture into [`svg`], into an
//! [`html`] page of its own that answers the pointer, or into text for a [`terminal`]. Renderers know
//! the model and nothing of layouts; views know nothing of pixels.
//!
//! # The model
//!
//! A [`Picture`] is rows of [`Panel`]s, side by side within a row. A panel has a title, a caption and a
//! [`Content`]:
//!
//! - a [`Grid`] of [`Cell`]s over two [`Axis`]es, which have headings and [`Band`]s (a thick border before
//!   each, and a heading over it), with [`Frame`]s around rectangles of cells, and [`Run`]s: names of
//!   stretches of a row, shown instead of the cells' texts where cells are too small for theirs. A bit
//!   matrix is a grid too: [`view::matrix_grid`];
//! - a [`Table`] of text, a note (lines of text), or an operator between two panels.
//!
//! A [`Cell`] has lines of text, a [`Fill`], perhaps a [`Tone`]d mark around it, links, kin, and what to
//! say when it is pointed at. Cells that share a *link* in any panel light up together; cells that
//! share a *kin* are framed more faintly. Links are plain strings that the views agree on: an element
//! is `element 3,5`, a lane `lane 3`.
//!
//! # Writing a view
//!
//! ```
//! use tilewright_picture::{Axis, Cell, Fill, Grid, Panel, Picture, html, svg, terminal};
//!
//! let banks = Grid::of(Axis::new("row", 0..2), Axis::new("bank", 0..4), |row, bank| {
//!     Cell::new(format!("{row},{bank}"))
//!         .fill(Fill::hue(bank as u64, 4))
//!         .link(format!("element {row},{bank}"))
//!         .kin(format!("bank {bank}"))
//!         .hover(format!("bank {bank}, row {row}"))
//! });
//! let mut picture = Picture::new("two rows of four banks");
//! picture.add(Panel::grid("memory", banks));
//! picture.start_row();
//! picture.add(Panel::note("note", ["a second row of panels"]));
//!
//! assert!(svg::render(&picture).starts_with("<svg"));
//! assert!(html::render(&picture).contains("</html>"));
//! assert!(terminal::render(&picture, &terminal::Style::plain()).contains("0,1"));
//! ```
//!
//! Hues come from [`Fill::hue`] (`index` of `of`: lane, warp, register, bank), which keeps neighbours
//! apart and repeats after 32; [`Fill::shaded`] adds a lighter or darker shade for a second key.
//! [`Fill::tone`] is for verdicts: same, moved, conflict. The index should also be in the cell's text,
//! since no palette tells 64 lanes apart.
//!
//! Views refuse what they cannot draw with a [`PictureError`] that says what to do instead.
//!
//! # What may import what
//!
//! The model (`picture`, `grid`, `cell`, `fill`) imports nothing; `arrange` and the renderers import the
//! model; `view` imports the model and `tilewright`'s layouts, and no renderer.

mod arrange;
mod cell;
mod error;
mod fill;
mod grid;
pub mod html;
mod picture;
pub mod svg;
pub mod terminal;
mod text;
pub mod view;

pub use cell::Cell;
pub use error::PictureError;
pub use fill::{Fill, Rgb, Tone};
pub use grid::{Axis, Band, Frame, Grid, Run};
pub use picture::{Content, Panel, Picture, Table};
