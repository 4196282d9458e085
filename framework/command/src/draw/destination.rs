//! Options for the output of a picture: the terminal or a file, the whole picture or a part.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use tilewright_picture::terminal::{TerminalColours, TextRenderOptions};
use tilewright_picture::{Picture, html, svg, terminal};

use crate::failure::CommandError;

/// Options of the output of a picture: the file, and the part that is drawn.
#[derive(Debug, Args)]
pub struct PictureDestination {
    /// Write to this file instead of the terminal: .svg or .html.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw these rows of each grid only: 0..16.
    #[arg(long, value_name = "A..B", value_parser = range)]
    rows: Option<Range<usize>>,
    /// Draw these columns of each grid only: 0..16.
    #[arg(long, value_name = "A..B", value_parser = range)]
    columns: Option<Range<usize>>,
}

impl PictureDestination {
    /// Whether no option was given, so that the whole picture goes to the terminal.
    pub fn is_default(&self) -> bool {
        self.output.is_none() && self.rows.is_none() && self.columns.is_none()
    }

    /// Returns the file to write to; `None` for the terminal.
    pub fn output(&self) -> Option<&std::path::Path> {
        self.output.as_deref()
    }

    /// Draws the requested part of a picture to the file or the terminal.
    pub fn draw(&self, mut picture: Picture) -> Result<(), CommandError> {
        if self.rows.is_some() || self.columns.is_some() {
            let all = 0..usize::MAX;
            let rows = self.rows.clone().unwrap_or(all.clone());
            let columns = self.columns.clone().unwrap_or(all);
            picture.map_grids(|grid| grid.crop(rows.clone(), columns.clone()));
        }
        let Some(file) = &self.output else {
            return print(&picture);
        };
        let text = match file.extension().and_then(OsStr::to_str) {
            Some("svg") => svg::render_svg(&picture),
            Some("html") => html::render_html(&picture),
            _ => {
                let message = format!("{}: a picture is a .svg or a .html file", file.display());
                return Err(CommandError::Input(message));
            }
        };
        std::fs::write(file, text).map_err(|error| CommandError::Input(format!("{}: {error}", file.display())))
    }
}

fn print(picture: &Picture) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    let style = match out.is_terminal() {
        true => style_of_terminal(),
        false => TextRenderOptions::plain(),
    };
    out.write_all(terminal::render_text(picture, &style).as_bytes())?;
    Ok(())
}

/// Returns the drawing style (colours, characters) that the terminal supports, according to environment variables.
fn style_of_terminal() -> TextRenderOptions {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_variable_one_of =
        |name, words: &[&str]| std::env::var(name).is_ok_and(|value| words.contains(&value.as_str()));
    let colours = if is_set("NO_COLOR") || is_variable_one_of("TERM", &["dumb"]) {
        TerminalColours::None
    } else if is_variable_one_of("COLORTERM", &["truecolor", "24bit"]) {
        TerminalColours::Exact
    } else {
        TerminalColours::Numbered
    };
    let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let remedy = "--rows A..B and --columns A..B show a part, -o FILE.svg or FILE.html all of it".to_owned();
    TextRenderOptions { colours, width, remedy }
}

/// Parses a range written as `A..B`; either end may be omitted.
fn range(text: &str) -> Result<Range<usize>, String> {
    let wrong = || format!("`{text}` is not a range; one is written 0..16");
    let (start, end) = text.split_once("..").ok_or_else(wrong)?;
    let number = |bound_text: &str, missing| match bound_text {
        "" => Ok(missing),
        digits => digits.parse().map_err(|_| wrong()),
    };
    let range = number(start, 0)?..number(end, usize::MAX)?;
    if range.is_empty() {
        return Err(format!("`{text}` is empty: it ends where it starts or before"));
    }
    Ok(range)
}
