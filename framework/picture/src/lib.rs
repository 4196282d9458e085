//! Pictures of tensor layouts: a model, three renderers, and the views that fill the model.
//!
//! A view builds a [`Picture`]; a renderer turns it into [`svg`], into a self-contained [`html`] page with tooltips, or
//! into text for a [`terminal`]. Renderers depend on the model only, not on layouts; views do not depend on pixels.
//!
//! # The model
//!
//! A [`Picture`] consists of rows of [`Panel`]s. A panel has a title, a caption and a [`Content`]:
//!
//! - a [`Grid`] of [`Cell`]s over two [`Axis`]es with headings and [`Band`]s (a thick border and a heading), with
//!   [`Outline`]s around rectangles of cells, and [`Run`]s: names of consecutive cells of a row, shown instead of the
//!   cells' texts if cells are too small. A bit matrix is a grid too: [`view::matrix_grid`];
//! - a [`Table`] of text, a note (lines of text), or an operator between two panels.
//!
//! A [`Cell`] has lines of text, a [`Fill`], an optional mark with a [`Tone`], links, kin, and tooltip lines. If the
//! pointer is on a cell of the HTML page, all cells in any panel with an equal *link* get a heavy frame, and those with
//! an equal *kin* a faint one. Links are strings with conventions: `element 3,5` for an element, `lane 3` for a lane.
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
//! Hues come from [`Fill::hue`] (`index` of `of`: lane, warp, register, bank), which separates neighbours and repeats
//! after 32; [`Fill::shaded`] adds shades for a second key. [`Fill::tone`] is for verdicts: same, moved, conflict. The
//! cell's text should show the index as well, because no palette distinguishes 64 lanes.
//!
//! Views that cannot draw their arguments return a [`PictureError`] with a remedy.
//!
//! # Dependencies between modules
//!
//! The model (`picture`, `grid`, `cell`, `fill`) depends on nothing; `arrange` and the renderers depend on the model;
//! `view` depends on the model and on `tilewright`'s layouts, but on no renderer.

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
pub use grid::{Axis, Band, Grid, Outline, Run};
pub use picture::{Content, Panel, Picture, Table};
