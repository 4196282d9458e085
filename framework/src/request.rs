//! A layout as users name it: by family or by its bases.

use serde_json::Value as Json;
use thiserror::Error;

use tilewright_layout::text::TextError;
use tilewright_layout::{FamilySpec, LinearLayout, layout_from_json, parse_spec, spec_from_json};

use super::{PipelineError, Session};

/// A distributed layout, by family or by its bases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutRequest {
    /// A family's layout.
    Family(FamilySpec),
    /// A layout that is given.
    Given(Box<LinearLayout>),
}

/// A value that names no layout; the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutRequestError {
    /// The text or JSON is malformed.
    #[error(transparent)]
    Notation(#[from] TextError),
    /// JSON that is neither a family nor a layout.
    #[error("expected a layout: text, an object with `kind`, one with `in_dims`, or one with `params` or `layout`")]
    NotALayout,
}

impl LayoutRequest {
    /// Reads text: a family's attribute text or JSON.
    ///
    /// # Errors
    /// [`LayoutRequestError`].
    pub fn from_text(text: &str) -> Result<Self, LayoutRequestError> {
        match serde_json::from_str::<Json>(text) {
            Ok(json @ Json::Object(_)) => Self::from_json(&json),
            _ => Ok(Self::Family(parse_spec(text)?)),
        }
    }

    /// Reads JSON: a string of text, a family (`kind`), a layout (`in_dims`), or an object that
    /// holds a layout as `layout` or a family as `params`; where it holds both they should say the
    /// same, and the layout is taken.
    ///
    /// # Errors
    /// [`LayoutRequestError`].
    pub fn from_json(value: &Json) -> Result<Self, LayoutRequestError> {
        if let Some(text) = value.as_str() {
            return Self::from_text(text);
        }
        if value.get("in_dims").is_some() {
            return Ok(Self::Given(Box::new(layout_from_json(value)?)));
        }
        if value.get("kind").is_some() {
            return Ok(Self::Family(spec_from_json(value)?));
        }
        let inner = value.get("layout").or_else(|| value.get("params"));
        inner.filter(|inner| inner.is_object()).map_or(Err(LayoutRequestError::NotALayout), Self::from_json)
    }

    /// The layout for a tensor of `shape`.
    ///
    /// # Errors
    /// [`PipelineError`].
    pub fn resolve(
        &self,
        session: &Session,
        target: Option<&str>,
        shape: &[u64],
    ) -> Result<LinearLayout, PipelineError> {
        match self {
            Self::Given(layout) => Ok((**layout).clone()),
            Self::Family(spec) => session.distributed(target, spec, shape),
        }
    }
}
