//! Layout requests: a layout by the name and parameters of a family, or by its bases.

use serde_json::Value as Json;
use thiserror::Error;

use tilewright_layout::text::TextError;
use tilewright_layout::{
    FamilySpec, Layout, LinearLayout, camel_case_key, layout_from_json, parse_spec, spec_from_json,
};

use super::{RequestError, Session};

/// A request for a layout: by a family and its parameters, or by its bases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutRequest {
    /// The layout that a family (a named constructor such as `blocked`) builds from parameters.
    Family(FamilySpec),
    /// An explicit linear layout.
    Given(Box<LinearLayout>),
}

/// The reason why a value is no layout request; the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutRequestError {
    /// The text or JSON is malformed.
    #[error(transparent)]
    Notation(#[from] TextError),
    /// The JSON value describes neither a family nor a layout.
    #[error("expected a layout: text, an object with `kind`, one with `in_dims`, or one with `params` or `layout`")]
    NotALayout,
}

impl LayoutRequest {
    /// Reads a layout request from text: a family's attribute text or JSON.
    ///
    /// # Errors
    /// [`LayoutRequestError::Notation`] if the text is malformed, [`LayoutRequestError::NotALayout`] if it is a JSON
    /// object that describes neither a family nor a layout.
    ///
    /// # Examples
    /// ```
    /// use tilewright::LayoutRequest;
    ///
    /// let text = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    /// assert!(matches!(LayoutRequest::from_text(text)?, LayoutRequest::Family(spec) if spec.name == "blocked"));
    /// let bases = r#"{"in_dims": [["lane", 4]], "out_dims": [["dim0", 4]], "bases": {"lane": [[1], [2]]}}"#;
    /// assert!(matches!(LayoutRequest::from_text(bases)?, LayoutRequest::Given(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_text(text: &str) -> Result<Self, LayoutRequestError> {
        match serde_json::from_str::<Json>(text) {
            Ok(json @ Json::Object(_)) => Self::from_json(&json),
            _ => Ok(Self::Family(parse_spec(text)?)),
        }
    }

    /// Reads a layout request from JSON: a string of attribute text, a family (`kind`), a layout (`in_dims`), or an
    /// object with a layout as `layout` or a family as `params`. If the object has both, they should agree, and the
    /// layout is used.
    ///
    /// # Errors
    /// [`LayoutRequestError::Notation`] if the text, family or layout in the value is malformed,
    /// [`LayoutRequestError::NotALayout`] if the value describes neither a family nor a layout.
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use tilewright::{LayoutRequest, LayoutRequestError};
    ///
    /// let family = json!({"kind": "slice", "dim": 1, "parent": {"kind": "blocked"}});
    /// assert!(matches!(LayoutRequest::from_json(&family)?, LayoutRequest::Family(_)));
    /// assert_eq!(LayoutRequest::from_json(&json!(7)), Err(LayoutRequestError::NotALayout));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_json(value: &Json) -> Result<Self, LayoutRequestError> {
        if let Some(text) = value.as_str() {
            return Self::from_text(text);
        }
        if value.get("in_dims").is_some() || camel_case_key(value).is_some() {
            return Ok(Self::Given(Box::new(layout_from_json(value)?)));
        }
        if value.get("kind").is_some() {
            return Ok(Self::Family(spec_from_json(value)?));
        }
        let inner = value.get("layout").or_else(|| value.get("params"));
        inner
            .filter(|inner| inner.is_object() || inner.is_string())
            .map_or(Err(LayoutRequestError::NotALayout), Self::from_json)
    }

    /// Returns the requested layout of any kind for a tensor of `shape`; the dims of a layout by its bases determine its
    /// kind. A family is resolved as by [`Session::layout`], with the same `target`.
    ///
    /// # Errors
    /// [`RequestError`] if the family cannot build the layout, or if the target or its plugin is not available.
    ///
    /// # Examples
    /// ```
    /// use tilewright::layout::Layout;
    /// use tilewright::plugin::Registry;
    /// use tilewright::{LayoutRequest, Session};
    ///
    /// let session = Session::new(tilewright_targets::catalogue()?, Registry::new());
    /// let text = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
    /// assert!(matches!(LayoutRequest::from_text(text)?.any(&session, None, &[32, 32])?, Layout::Memory(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn any(&self, session: &Session, target: Option<&str>, shape: &[u64]) -> Result<Layout, RequestError> {
        match self {
            Self::Given(layout) => Ok((**layout).clone().into()),
            Self::Family(spec) => session.layout(target, spec, shape),
        }
    }

    /// Returns the linear map of the requested layout for a tensor of `shape`. A family is resolved as by
    /// [`Session::distributed`], with the same `target`, so it must build a distributed layout.
    ///
    /// # Errors
    /// [`RequestError::NotDistributed`] if the family builds a memory layout; another [`RequestError`] if it cannot
    /// build the layout, or if the target or its plugin is not available.
    ///
    /// # Examples
    /// ```
    /// use tilewright::layout::Dim;
    /// use tilewright::plugin::Registry;
    /// use tilewright::{LayoutRequest, Session};
    ///
    /// let session = Session::new(tilewright_targets::catalogue()?, Registry::new());
    /// let text = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    /// let layout = LayoutRequest::from_text(text)?.resolve(&session, None, &[256])?;
    /// assert_eq!(layout.in_bits(Dim::REGISTER), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve(
        &self,
        session: &Session,
        target: Option<&str>,
        shape: &[u64],
    ) -> Result<LinearLayout, RequestError> {
        match self {
            Self::Given(layout) => Ok((**layout).clone()),
            Self::Family(spec) => session.distributed(target, spec, shape),
        }
    }
}
