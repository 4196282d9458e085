//! Layout requests: a layout by the name and parameters of a family, by its bases, in CuTe's notation, or as a task
//! mapping.

use serde_json::Value as Json;
use thiserror::Error;

use tilewright_layout::cute::{ComposedLayout, CoordinateLayout, CuteError, TaskMapping, to_distributed, to_memory};
use tilewright_layout::text::TextError;
use tilewright_layout::{
    Dim, FamilySpec, Layout, LinearLayout, MemoryLayout, find_camel_case_key, layout_from_json, parse_family_spec,
    spec_from_json,
};

use super::{Session, SessionError};

/// Number of lanes in a warp of a thread-value layout or task mapping that is requested without a target.
const LANES: u64 = 32;

/// A request for a layout: by a family and its parameters, by its bases, in CuTe's notation, or as a task mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutRequest {
    /// The layout that a family (a named constructor such as `blocked`) builds from parameters.
    Family(FamilySpec),
    /// An explicit linear layout.
    Given(Box<LinearLayout>),
    /// A layout in CuTe's notation. Two modes without a swizzle are a thread-value layout, from (thread, value) to the
    /// element, counted with the first axis fastest. All others are memory layouts, from the coordinate to the offset.
    Cute(Box<ComposedLayout>),
    /// A layout in CuTe's notation whose values are coordinates, from (thread, value) to the coordinate of the element.
    Coordinates(Box<CoordinateLayout>),
    /// A task mapping, whose workers are threads and whose tasks are the elements of the tensor.
    TaskMapping(TaskMapping),
}

/// The reason why a value is no layout request; the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LayoutRequestError {
    /// The text or JSON is malformed.
    #[error(transparent)]
    Notation(#[from] TextError),
    /// The text has the form of a CuTe layout or a task mapping, and is not a valid one.
    #[error(transparent)]
    Cute(CuteError),
    /// The JSON value describes neither a family nor a layout.
    #[error("expected a layout: text, an object with `kind`, one with `in_dims`, or one with `params` or `layout`")]
    NotALayout,
}

impl From<CuteError> for LayoutRequestError {
    fn from(error: CuteError) -> Self {
        match error {
            CuteError::Text(error) => Self::Notation(error),
            other => Self::Cute(other),
        }
    }
}

impl LayoutRequest {
    /// Reads a layout request from text: a family's attribute text, JSON, CuTe's notation (`((4,8),2):((16,1),8)`) or a
    /// task mapping (`repeat(4, 1) * spatial(16, 8)`).
    ///
    /// # Errors
    /// [`LayoutRequestError::Notation`] if the text is malformed, [`LayoutRequestError::NotALayout`] if it is a JSON
    /// object that describes neither a family nor a layout, [`LayoutRequestError::Cute`] if sizes and strides are not
    /// those of a layout.
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
            _ if starts_with_any(text, &["repeat", "spatial"]) => Ok(Self::TaskMapping(text.parse()?)),
            _ if is_cute(text) && (text.contains('@') || text.contains("E<")) => {
                Ok(Self::Coordinates(Box::new(text.parse()?)))
            }
            _ if is_cute(text) => Ok(Self::Cute(Box::new(text.parse()?))),
            _ => Ok(Self::Family(parse_family_spec(text)?)),
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
        if value.get("in_dims").is_some() || find_camel_case_key(value).is_some() {
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

    /// Returns the requested layout of any kind for a tensor of `shape`; the dims of a layout by its bases determine
    /// its kind. A family is resolved as by [`Session::layout`], with the same `target`. A warp of a thread-value
    /// layout or task mapping has as many lanes as the target's, or 32 without a target.
    ///
    /// # Errors
    /// [`SessionError`] if the family cannot build the layout, if the target or its plugin is not available, or if the
    /// elements of the layout are not those of the tensor.
    ///
    /// # Examples
    /// ```
    /// use tilewright::layout::Layout;
    /// use tilewright::plugin::Registry;
    /// use tilewright::{LayoutRequest, Session};
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// let text = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
    /// assert!(matches!(LayoutRequest::from_text(text)?.resolve_layout(&session, None, &[32, 32])?, Layout::Memory(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve_layout(
        &self,
        session: &Session,
        target: Option<&str>,
        shape: &[u64],
    ) -> Result<Layout, SessionError> {
        match self {
            Self::Given(layout) => Ok((**layout).clone().into()),
            Self::Family(spec) => session.layout(target, spec, shape),
            Self::Cute(layout) if is_thread_value(layout) => {
                let layout = to_distributed(layout, shape, lanes(session, target)?)?;
                self.check_elements(layout.is_surjective(), shape)?;
                Ok(Layout::Distributed(layout))
            }
            Self::Cute(layout) => Ok(Layout::Memory(to_memory(layout, shape)?)),
            Self::Coordinates(layout) => {
                let elements = ComposedLayout::new(Vec::new(), 0, layout.to_elements(shape)?)?;
                let layout = to_distributed(&elements, shape, lanes(session, target)?)?;
                self.check_elements(layout.is_surjective(), shape)?;
                Ok(Layout::Distributed(layout))
            }
            Self::TaskMapping(mapping) => {
                self.check_elements(mapping.shape() == shape, shape)?;
                let layout = mapping.thread_value()?.composed()?;
                Ok(Layout::Distributed(to_distributed(&layout, shape, lanes(session, target)?)?))
            }
        }
    }

    /// Returns the requested memory layout for a tensor of `shape`; `None` if the layout is of another kind. A layout
    /// in CuTe's notation is read as a memory layout, with or without a swizzle.
    ///
    /// # Errors
    /// As [`LayoutRequest::resolve_layout`].
    pub fn resolve_memory_layout(
        &self,
        session: &Session,
        target: Option<&str>,
        shape: &[u64],
    ) -> Result<Option<MemoryLayout>, SessionError> {
        if let Self::Cute(layout) = self {
            return Ok(Some(to_memory(layout, shape)?));
        }
        Ok(match self.resolve_layout(session, target, shape)? {
            Layout::Memory(memory) => Some(memory),
            Layout::Distributed(linear) => {
                linear.ins().contains(Dim::OFFSET).then(|| MemoryLayout::from_linear(linear))
            }
            Layout::TensorMemory(_) => None,
        })
    }

    /// Returns an error unless the layout, whose elements are those of the tensor if `are_same`, is one of the tensor.
    fn check_elements(&self, are_same: bool, shape: &[u64]) -> Result<(), SessionError> {
        let sizes = || shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        if are_same { Ok(()) } else { Err(SessionError::OtherElements { layout: self.to_text(), shape: sizes() }) }
    }

    /// Returns the text of a layout in CuTe's notation or of a task mapping.
    fn to_text(&self) -> String {
        match self {
            Self::Cute(layout) => layout.to_string(),
            Self::Coordinates(layout) => layout.to_string(),
            Self::TaskMapping(mapping) => mapping.to_string(),
            Self::Family(spec) => spec.name.clone(),
            Self::Given(layout) => layout.to_string(),
        }
    }

    /// Returns the linear map of the requested layout for a tensor of `shape`. A family is resolved as by
    /// [`Session::distributed_layout`], with the same `target`, so it must build a distributed layout.
    ///
    /// # Errors
    /// [`SessionError::NotDistributed`] if the request is for a memory layout; otherwise as
    /// [`LayoutRequest::resolve_layout`].
    ///
    /// # Examples
    /// ```
    /// use tilewright::layout::Dim;
    /// use tilewright::plugin::Registry;
    /// use tilewright::{LayoutRequest, Session};
    ///
    /// let session = Session::new(tilewright_targets::read_default_catalogue()?, Registry::new());
    /// let text = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
    /// let layout = LayoutRequest::from_text(text)?.resolve_linear_layout(&session, None, &[256])?;
    /// assert_eq!(layout.in_bits(Dim::REGISTER), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve_linear_layout(
        &self,
        session: &Session,
        target: Option<&str>,
        shape: &[u64],
    ) -> Result<LinearLayout, SessionError> {
        match self {
            Self::Given(layout) => Ok((**layout).clone()),
            Self::Family(spec) => session.distributed_layout(target, spec, shape),
            Self::Cute(_) | Self::Coordinates(_) | Self::TaskMapping(_) => {
                match self.resolve_layout(session, target, shape)? {
                    Layout::Distributed(layout) => Ok(layout),
                    Layout::Memory(_) | Layout::TensorMemory(_) => Err(SessionError::NotDistributed(self.to_text())),
                }
            }
        }
    }
}

/// Whether a layout in CuTe's notation is a thread-value layout.
fn is_thread_value(layout: &ComposedLayout) -> bool {
    layout.swizzles().is_empty() && layout.layout().rank() == 2
}

/// The names with which layouts in CuTe's notation begin, as it prints them or as its C++ spells them.
const CUTE_NAMES: &[&str] =
    &["Swizzle", "Sw", "S", "make_layout", "Layout", "composition", "ComposedLayout", "ArithTuple", "ArithTupleIter"];

/// Whether a text has the form of CuTe's notation, with or without a swizzle.
fn is_cute(text: &str) -> bool {
    let text = text.trim_start();
    let name = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_pointer = name.ends_with("ptr") && text[name.len()..].starts_with('[');
    text.trim_start_matches('_').starts_with(|c: char| c == '(' || c.is_ascii_digit())
        || is_pointer
        || starts_with_any(text.trim_start_matches("cute::"), CUTE_NAMES)
}

/// Whether a text starts with one of the names, followed by a bracket.
fn starts_with_any(text: &str, names: &[&str]) -> bool {
    let text = text.trim_start();
    names.iter().any(|name| text.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['(', '<'])))
}

fn lanes(session: &Session, target: Option<&str>) -> Result<u64, SessionError> {
    let Some(name) = target else { return Ok(LANES) };
    Ok(u64::from(session.catalogue().get(name)?.lanes.default))
}
