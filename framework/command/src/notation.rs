//! The notations in which the command prints a layout.

use clap::ValueEnum;

use tilewright::LayoutRequest;
use tilewright_layout::cute;
use tilewright_layout::{AttributeSyntaxes, FamilySpec, Layout, spec_to_json};

use crate::failure::CommandError;

/// How to write a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Notation {
    /// Attribute text of the family: `#ttg.blocked<{...}>`.
    Text,
    /// The family as JSON.
    Json,
    /// Attribute text by bases, whatever the family: `#ttg.linear<{...}>`, `#ttg.shared_linear<...>`.
    Linear,
    /// CuTe's notation: of (thread, value), or of the coordinate in memory.
    Cute,
}

impl Notation {
    /// The text of a layout that was asked for so.
    ///
    /// # Errors
    /// [`CommandError::Input`] where the notation has no words for the layout.
    pub fn of(
        self,
        request: &LayoutRequest,
        layout: &Layout,
        spellings: &AttributeSyntaxes,
    ) -> Result<String, CommandError> {
        Ok(match self {
            Self::Text => spellings.text(&family(request, layout)?),
            Self::Json => spec_to_json(&spellings.canonical(&family(request, layout)?)).to_string(),
            Self::Linear => spellings.text(&by_bases(layout)?),
            Self::Cute => {
                let cute = cute::of_tensor(layout);
                cute.map_err(|error| CommandError::Input(format!("LAYOUT: not in CuTe's notation: {error}")))?
                    .to_string()
            }
        })
    }
}

/// The family that was asked for, or the one of the layout's bases.
fn family(request: &LayoutRequest, layout: &Layout) -> Result<FamilySpec, CommandError> {
    match request {
        LayoutRequest::Family(spec) => Ok(spec.clone()),
        _ => by_bases(layout),
    }
}

fn by_bases(layout: &Layout) -> Result<FamilySpec, CommandError> {
    let wrong = "LAYOUT: no attribute has these bases: tensor memory, or dims other than register, lane, warp, block";
    layout.to_spec().ok_or_else(|| CommandError::Input(wrong.to_owned()))
}
