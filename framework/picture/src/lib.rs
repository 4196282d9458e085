//! Pictures of tensor layouts: a model, three renderers, and the views that fill the model.
//!
//! A view builds a [`Picture`]; a renderer turns it into [`svg`], into a self-contained [`html`] page with tooltips, or
//! into text for a [`terminal`]. Renderers depend on the model only, not on layouts; views do not depend on pixels.
//!
//! # The model
//!
//! A [`Picture`] consists of rows of [`Panel`]s. A panel has a title, a caption and a [`PanelContent`]:
//!
//! - a [`Grid`] of [`Cell`]s over two [`GridAxis`]es with headings and [`HeadedGridBand`]s (a thick border and a
//!   heading), with [`Outline`]s around rectangles of cells, and [`CellRun`]s: names of consecutive cells of a row,
//!   shown instead of the cells' texts if cells are too small. A bit matrix is a grid too:
//!   [`view::draw_f2_matrix_grid`];
//! - a [`TextTable`] of text, a note (lines of text), or an operator between two panels.
//!
//! A [`Cell`] has lines of text, a [`CellColour`], an optional mark with a [`EmphasisColour`], links, kin, and tooltip
//! lines. If the pointer is on a cell of the HTML page, all cells in any panel with an equal *link* get a heavy frame,
//! and those with an equal *kin* a faint one. Links are strings with conventions: `element 3,5` for an element, `lane
//! 3` for a lane.
//!
//! # Writing a view
//!
//! ```
//! use tilewright_picture::{Cell, CellColour, Grid, GridAxis, Panel, Picture, html, svg, terminal};
//!
//! let banks = Grid::from_fn(GridAxis::new("row", 0..2), GridAxis::new("bank", 0..4), |row, bank| {
//!     Cell::new(format!("{row},{bank}"))
//!         .with_fill(CellColour::from_index(bank as u64, 4))
//!         .with_link(format!("element {row},{bank}"))
//!         .with_related_group(format!("bank {bank}"))
//!         .with_tooltip_line(format!("bank {bank}, row {row}"))
//! });
//! let mut picture = Picture::new("two rows of four banks");
//! picture.add_panel(Panel::grid("memory", banks));
//! picture.start_row();
//! picture.add_panel(Panel::note("note", ["a second row of panels"]));
//!
//! assert!(svg::render_svg(&picture).starts_with("<svg"));
//! assert!(html::render_html(&picture).contains("</html>"));
//! assert!(terminal::render_text(&picture, &terminal::TextRenderOptions::plain()).contains("0,1"));
//! ```
//!
//! Hues come from [`CellColour::from_index`] (`index` of `of`: lane, warp, register, bank), which separates neighbours
//! and repeats after 32; [`CellColour::from_index_and_shade`] adds shades for a second key. [`CellColour::from_tone`]
//! is for verdicts: same, moved, conflict. The cell's text should show the index as well, because no palette
//! distinguishes 64 lanes.
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
pub use fill::{CellColour, EmphasisColour, Rgb};
pub use grid::{CellRun, Grid, GridAxis, HeadedGridBand, Outline};
pub use picture::{Panel, PanelContent, Picture, TextTable};
