//! `tilewright draw layout`: the lane and register of each element, and the elements of each lane.

use clap::{Args, ValueEnum};
use tilewright_layout::Dim;
use tilewright_picture::view::{self, ColourBy, LayoutDrawingOptions};

use super::destination::PictureDestination;
use super::request::{TensorOptions, caption_lines};
use crate::failure::CommandError;
use crate::input::ShownLayout;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw layout`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The layout: `#ttg.blocked<{...}>`, its JSON form, a linear layout's JSON, CuTe's `((4,8),2):((16,1),8)`, or a
    /// task mapping such as `repeat(4, 1) * spatial(16, 8)`.
    layout: String,
    #[command(flatten)]
    request: TensorOptions,
    #[command(flatten)]
    view: ViewOptions,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Options that control how a layout is drawn.
#[derive(Debug, Args)]
pub struct ViewOptions {
    /// The hardware dim (such as lane or register) whose index the hue shows, for a distributed layout.
    #[arg(long, visible_alias = "color", value_enum, default_value_t = Colour::Lane)]
    colour: Colour,
    #[command(flatten)]
    plane: PlaneOptions,
}

/// Option that selects the tensor axes to draw.
#[derive(Debug, Args)]
pub struct PlaneOptions {
    /// The two axes drawn as rows and columns, as dim0,dim1; the other axes are drawn as slices.
    #[arg(long, value_name = "ROWS,COLUMNS", value_parser = plane)]
    pub dims: Option<(Dim, Dim)>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Colour {
    Lane,
    Warp,
    Register,
}

impl ViewOptions {
    fn options(&self) -> LayoutDrawingOptions {
        let colour = match self.colour {
            Colour::Lane => ColourBy::Lane,
            Colour::Warp => ColourBy::Warp,
            Colour::Register => ColourBy::Register,
        };
        LayoutDrawingOptions { colour, plane: self.plane.dims }
    }
}

/// Runs `tilewright draw layout`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let title = format!("layout of a tensor of {}", options.request.shape);
    let mut picture = match options.request.parse_shown_layout(&session, "LAYOUT", &options.layout)? {
        ShownLayout::Layout(_, layout) => view::draw_layout(&title, &layout, &options.view.options())?,
        ShownLayout::Values(layout, reason) => {
            let mut picture = view::draw_layout_values(&title, &layout)?;
            picture.caption.extend(caption_lines("", &format!("values by coordinate; no linear layout: {reason}")));
            picture
        }
    };
    picture.caption.splice(0..0, caption_lines("", &options.layout));
    options.destination.draw(picture)
}

fn plane(text: &str) -> Result<(Dim, Dim), String> {
    let (rows, columns) = text.split_once(',').ok_or("two axes are written dim0,dim1")?;
    Ok((Dim::named(rows.trim()), Dim::named(columns.trim())))
}
