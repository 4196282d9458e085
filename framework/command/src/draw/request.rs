//! Options that most pictures share: the tensor's shape, and the target whose layout families can be named.

use clap::Args;
use tilewright::Session;
use tilewright_layout::Layout;

use crate::failure::CommandError;
use crate::input::{self, ShownLayout};

/// The tensor's shape, and the target whose layout families can be named.
#[derive(Debug, Args)]
pub struct TensorOptions {
    /// The tensor's shape, as 16x16.
    #[arg(long, value_name = "SHAPE")]
    pub shape: String,
    /// Look layout families up in this target's plugin only.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
}

impl TensorOptions {
    /// Parses the layout `text` for the tensor; error messages call it `name`.
    pub fn parse_layout(&self, session: &Session, name: &str, text: &str) -> Result<Layout, CommandError> {
        self.parse_layout_of_shape(session, name, text, &self.shape)
    }

    /// Parses the layout `text`, which is only shown, for the tensor; error messages call it `name`.
    pub fn parse_shown_layout(&self, session: &Session, name: &str, text: &str) -> Result<ShownLayout, CommandError> {
        input::parse_shown_layout(session, name, text, self.target.as_deref(), &self.shape)
    }

    /// Parses the layout `text` for a tensor of another shape; error messages call it `name`.
    pub fn parse_layout_of_shape(
        &self,
        session: &Session,
        name: &str,
        text: &str,
        shape: &str,
    ) -> Result<Layout, CommandError> {
        input::parse_layout(session, name, text, self.target.as_deref(), &input::parse_shape(shape)?)
    }
}

/// Returns lines for a picture's caption that repeat the text of a layout.
pub fn caption_lines(name: &str, text: &str) -> Vec<String> {
    const WIDEST: usize = 110;
    let start = if name.is_empty() { String::new() } else { format!("{name} = ") };
    let words: Vec<char> = (start + &text.split_whitespace().collect::<Vec<_>>().join(" ")).chars().collect();
    let mut lines = Vec::new();
    let mut rest = words.as_slice();
    while rest.len() > WIDEST {
        // Breaks after the last comma or blank that fits, else within a word.
        let end = rest[..WIDEST].iter().rposition(|&c| c == ',' || c == ' ').map_or(WIDEST, |at| at + 1);
        lines.push(rest[..end].iter().collect::<String>().trim_end().to_owned());
        rest = &rest[end..];
    }
    lines.push(rest.iter().collect());
    lines
}
