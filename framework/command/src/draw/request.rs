//! What most pictures are asked with: a tensor's shape, and the target that knows the families.

use clap::Args;
use tilewright::Session;
use tilewright_layout::Layout;

use crate::failure::CommandError;
use crate::input;

/// For which tensor, and by which target.
#[derive(Debug, Args)]
pub struct TensorOptions {
    /// The tensor's shape, as 16x16.
    #[arg(long, value_name = "SHAPE")]
    pub shape: String,
    /// Resolve families through this target's plugin only.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
}

impl TensorOptions {
    /// The layout of `text`, given as `name`.
    pub fn layout(&self, session: &Session, name: &str, text: &str) -> Result<Layout, CommandError> {
        self.layout_of(session, name, text, &self.shape)
    }

    /// The layout of `text`, given as `name`, for another shape.
    pub fn layout_of(&self, session: &Session, name: &str, text: &str, shape: &str) -> Result<Layout, CommandError> {
        input::layout(session, name, text, self.target.as_deref(), &input::shape(shape)?)
    }
}

/// Lines that repeat the text of a layout under a picture's title.
pub fn repeated(name: &str, text: &str) -> Vec<String> {
    const WIDEST: usize = 110;
    let start = if name.is_empty() { String::new() } else { format!("{name} = ") };
    let words: Vec<char> = (start + &text.split_whitespace().collect::<Vec<_>>().join(" ")).chars().collect();
    let mut lines = Vec::new();
    let mut rest = words.as_slice();
    while rest.len() > WIDEST {
        // After the last comma or blank that fits; in the middle of a word where there is none.
        let end = rest[..WIDEST].iter().rposition(|&c| c == ',' || c == ' ').map_or(WIDEST, |at| at + 1);
        lines.push(rest[..end].iter().collect::<String>().trim_end().to_owned());
        rest = &rest[end..];
    }
    lines.push(rest.iter().collect());
    lines
}
