//! Prints layouts in various notations: attribute text, JSON, CuTe.

use clap::ValueEnum;

use tilewright::LayoutRequest;
use tilewright_layout::cute;
use tilewright_layout::{AttributeSyntaxes, FamilySpec, Layout, spec_to_json};

use crate::failure::CommandError;

/// The notation for printing a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutNotation {
    /// Attribute text of the layout's family: `#ttg.blocked<{...}>`.
    Text,
    /// The layout's family and parameters as JSON.
    Json,
    /// Attribute text of the layout's bases, whatever its family: `#ttg.linear<{...}>`, `#ttg.shared_linear<...>`.
    Linear,
    /// CuTe's notation: a layout of (thread, value), or of the coordinate for a memory layout.
    Cute,
}

impl LayoutNotation {
    /// Prints a layout in this notation. `request` is the user's request for the layout: it has the family and its
    /// parameters, or the bases.
    ///
    /// # Errors
    /// [`CommandError::Input`] if the notation cannot express the layout.
    pub fn print_layout(
        self,
        request: &LayoutRequest,
        layout: &Layout,
        attribute_syntaxes: &AttributeSyntaxes,
    ) -> Result<String, CommandError> {
        Ok(match self {
            Self::Text => attribute_syntaxes.print_spec(&family(request, layout)?),
            Self::Json => spec_to_json(&attribute_syntaxes.to_canonical_spec(&family(request, layout)?)).to_string(),
            Self::Linear => attribute_syntaxes.print_spec(&by_bases(layout)?),
            Self::Cute => {
                let cute = cute::from_tensor_layout(layout);
                cute.map_err(|error| CommandError::Input(format!("LAYOUT: not in CuTe's notation: {error}")))?
                    .to_string()
            }
        })
    }
}

/// Returns the requested family's parameters, or those of the family that lists the layout's bases.
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
