//! Parses the inputs of commands: shapes, elements, layouts, targets and plugins.

use std::num::IntErrorKind;
use std::time::Duration;

use tilewright::{LayoutRequest, Session, SessionError};
use tilewright_kernel::Element;
use tilewright_layout::cute::NotatedLayout;
use tilewright_layout::{Layout, LinearLayout, MemoryLayout};

use crate::GlobalOptions;
use crate::failure::CommandError;

/// Default time limit of a call to a plugin, which the environment variable [`TIMEOUT_VARIABLE`] overrides.
const PATIENCE: Duration = Duration::from_secs(60);

/// Environment variable with the time limit of a call to a plugin, in seconds.
const TIMEOUT_VARIABLE: &str = "TILEWRIGHT_PLUGIN_TIMEOUT";

/// Opens a session: the targets and plugins that the options and the environment name. Plugins run in their own
/// processes, so that a crash of a plugin does not end the command.
pub fn open_session(global: &GlobalOptions) -> Result<Session, CommandError> {
    let builder =
        Session::builder(tilewright_targets::read_default_catalogue()?).with_target_directories(&global.targets)?;
    let program = std::env::current_exe()
        .map_err(|error| CommandError::Broken(format!("cannot find the file of this program: {error}")))?;
    Ok(builder.with_plugins(&global.plugin).with_isolated_plugins(program, patience()?).open()?)
}

fn patience() -> Result<Duration, CommandError> {
    let Some(text) = std::env::var_os(TIMEOUT_VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(PATIENCE);
    };
    let text = text.to_string_lossy();
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
        CommandError::Input(format!(
            "{TIMEOUT_VARIABLE}=`{text}` is not a number of seconds above zero; the default is 60"
        ))
    })
}

/// Parses a shape written as `128x64`; each size must be a power of two.
pub fn parse_shape(text: &str) -> Result<Vec<u64>, CommandError> {
    let wrong = |what: String| CommandError::Input(format!("shape `{text}`: {what}"));
    let mut sizes = Vec::new();
    for dim_text in text.split('x') {
        let size: u64 = dim_text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => wrong(format!("{dim_text} does not fit 64 bits")),
            _ => wrong(format!("`{dim_text}` is not a size; a shape is written 128x64")),
        })?;
        if !size.is_power_of_two() {
            let remedy = size.checked_next_power_of_two().map(|next| format!("; enlarge it to {next} and mask"));
            return Err(wrong(format!("{size} is not a power of two{}", remedy.unwrap_or_default())));
        }
        sizes.push(size);
    }
    Ok(sizes)
}

/// Returns the width in bits of an element, given as a type or a number of bits.
pub fn parse_element_bits(text: &str) -> Result<u32, CommandError> {
    if let Some(element) = Element::from_name(text) {
        return Ok(element.bits());
    }
    text.parse().map_err(|_| {
        let known: Vec<_> = Element::ALL.iter().map(|element| element.name()).collect();
        CommandError::Input(format!("unknown element `{text}`; known are {} and widths in bits", known.join(", ")))
    })
}

/// Parses a distributed layout (of registers, lanes and warps); error messages call it `name`. Without `target`, all
/// plugins are searched for the layout's family.
pub fn parse_distributed_layout(
    session: &Session,
    name: &str,
    text: &str,
    target: Option<&str>,
    shape: &[u64],
) -> Result<LinearLayout, CommandError> {
    let request = LayoutRequest::from_text(text).map_err(|error| CommandError::from_layout_error(name, text, error))?;
    request.resolve_linear_layout(session, target, shape).map_err(|error| of_named(name, error))
}

/// Parses a layout of any kind; error messages call it `name`. Without `target`, all plugins are searched for the
/// layout's family.
pub fn parse_layout(
    session: &Session,
    name: &str,
    text: &str,
    target: Option<&str>,
    shape: &[u64],
) -> Result<Layout, CommandError> {
    request_of_shape(name, text, shape)?.resolve_layout(session, target, shape).map_err(|error| of_named(name, error))
}

/// A layout to show: with its request, or as a map of coordinates to values if no linear layout has this map.
pub enum ShownLayout {
    /// The request, and the layout that it resolves to.
    Layout(Box<LayoutRequest>, Box<Layout>),
    /// A layout in CuTe's notation, and the reason why no linear layout is the same map.
    Values(NotatedLayout, String),
}

/// Parses a layout that is only shown, for a tensor of the shape `shape_text`; error messages call it `name`. A layout in
/// CuTe's notation may have any sizes and strides, if it has as many coordinates as the tensor has elements.
pub fn parse_shown_layout(
    session: &Session,
    name: &str,
    text: &str,
    target: Option<&str>,
    shape_text: &str,
) -> Result<ShownLayout, CommandError> {
    let linear = parse_shape(shape_text).and_then(|shape| {
        let request = request_of_shape(name, text, &shape)?;
        let layout = request.resolve_layout(session, target, &shape).map_err(|error| of_named(name, error))?;
        Ok(ShownLayout::Layout(Box::new(request), Box::new(layout)))
    });
    linear.or_else(|error| match (parse_values(text, shape_text), error.input_message()) {
        (Some(layout), Some(reason)) => Ok(ShownLayout::Values(layout, reason.to_owned())),
        _ => Err(error),
    })
}

/// Parses a layout in CuTe's notation that has as many coordinates as a tensor of the shape has elements; `None` for
/// other texts.
fn parse_values(text: &str, shape_text: &str) -> Option<NotatedLayout> {
    let product = |sizes: &[u64]| sizes.iter().try_fold(1u64, |all, size| all.checked_mul(*size));
    let shape: Vec<u64> = shape_text.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
    let layout: NotatedLayout = text.parse().ok()?;
    (product(&layout.sizes().ok()?)? == product(&shape)?).then_some(layout)
}

/// Parses a memory layout; error messages call it `name`. `None` if the layout is of another kind.
pub fn parse_memory_layout(
    session: &Session,
    name: &str,
    text: &str,
    target: &str,
    shape: &[u64],
) -> Result<Option<MemoryLayout>, CommandError> {
    request_of_shape(name, text, shape)?
        .resolve_memory_layout(session, Some(target), shape)
        .map_err(|error| of_named(name, error))
}

/// Parses the request for a layout; an error if it has the bases of a layout of another shape.
fn request_of_shape(name: &str, text: &str, shape: &[u64]) -> Result<LayoutRequest, CommandError> {
    match LayoutRequest::from_text(text).map_err(|error| CommandError::from_layout_error(name, text, error))? {
        LayoutRequest::Given(layout) if !is_of_shape(&layout, shape) => {
            let outs =
                layout.outs().iter().map(|(dim, bits)| format!("{dim} 2^{bits}")).collect::<Vec<_>>().join(" x ");
            Err(CommandError::Input(format!(
                "{name}: the layout is of a tensor of {outs}, which differs from the given shape"
            )))
        }
        request => Ok(request),
    }
}

/// Whether a layout maps to a tensor of this shape.
fn is_of_shape(layout: &LinearLayout, shape: &[u64]) -> bool {
    let outs = layout.outs();
    let leads_to_tensor = outs.dims().all(|dim| dim.as_tensor_axis().is_some());
    let mut sizes = shape.iter().enumerate();
    let fits = |(axis, &size): (usize, &u64)| {
        outs.iter().any(|(dim, bits)| dim.as_tensor_axis() == Some(axis) && 1u64.checked_shl(bits) == Some(size))
    };
    !leads_to_tensor || (outs.len() == shape.len() && sizes.all(fits))
}

/// Converts the error of resolving a layout; the message calls the layout `name`.
fn of_named(name: &str, error: SessionError) -> CommandError {
    match CommandError::from(error) {
        CommandError::Input(message) => CommandError::Input(format!("{name}: {message}")),
        other => other,
    }
}
