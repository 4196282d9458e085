//! Pictures of tensor layouts: one model, three ways to draw it, and the views that fill it.
//!
//! A view turns what it shows into a [`Picture`]; a renderer turns any picture into [`svg`], into an
//! [`html`] page of its own that answers the pointer, or into text for a [`terminal`]. Renderers know
//! the model and nothing of layouts; views know nothing of pixels.
//!
//! # The model
//!
//! A [`Picture`] is rows of [`Panel`]s, side by side within a row, with arrows between cells. A panel
//! has a title, a caption and a [`Content`]:
//!
//! - a [`Grid`] of [`Cell`]s with headings, [`Band`]s of rows and of columns (a thick border before each,
//!   and a heading over it), [`Frame`]s around rectangles of cells, and [`Run`]s: names of stretches of
//!   a row, shown instead of the cells' texts where cells are too small for theirs. A bit matrix is a
//!   grid too: [`view::matrix_grid`];
//! - a [`Table`] of text, a note (lines of text), or an operator between two panels.
//!
//! A [`Cell`] has lines of text, a [`Fill`], perhaps a [`Tone`]d mark around it, links, kin, and what to
//! say when it is pointed at. Cells that share a *link* in any panel light up together; cells that
//! share a *kin* are framed more faintly. Links are plain strings that the views agree on: an element
//! is [`view::element_link`], a hardware position [`view::position_link`].
//!
//! # Writing a view
//!
//! ```
//! use tilewright_picture::{Cell, Fill, Grid, Panel, Picture, html, svg, terminal};
//!
//! let mut banks = Grid::new(2, 4);
//! banks.row_axis = "row".to_owned();
//! banks.column_axis = "bank".to_owned();
//! banks.row_headings = vec!["0".to_owned(), "1".to_owned()];
//! banks.column_headings = (0..4).map(|bank| bank.to_string()).collect();
//! for row in 0..2 {
//!     for bank in 0..4u64 {
//!         let cell = Cell::new(format!("{row},{bank}"))
//!             .fill(Fill::hue(bank, 4))
//!             .link(format!("element {row},{bank}"))
//!             .kin(format!("bank {bank}"))
//!             .hover(format!("bank {bank}, row {row}"));
//!         banks.set(row, bank as usize, cell);
//!     }
//! }
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

mod access;
mod arrange;
mod banks;
mod cell;
mod error;
mod fill;
mod grid;
pub mod html;
mod picture;
mod plane;
mod runs;
pub mod svg;
pub mod terminal;
pub mod view;
mod wavefront;

pub use cell::Cell;
pub use error::PictureError;
pub use fill::{Fill, Rgb, Tone};
pub use grid::{Band, Frame, Grid, Run};
pub use picture::{Anchor, Arrow, Content, Panel, Picture, Table};
