//! What the commands read: shapes, elements, layouts, and the targets and plugins that they ask.

use std::num::IntErrorKind;
use std::time::Duration;

use tilewright::{LayoutRequest, PipelineError, Session};
use tilewright_kernel::Element;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};

use crate::GlobalOptions;
use crate::failure::CommandError;

/// How long a plugin may take for one answer unless [`TIMEOUT_VARIABLE`] says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// Environment variable with the seconds that a plugin may take for one answer.
const TIMEOUT_VARIABLE: &str = "TILEWRIGHT_PLUGIN_TIMEOUT";

/// The targets and plugins that the options and the environment name. Plugins run in processes of
/// their own, so that none can take the command down with it.
pub fn session(global: &GlobalOptions) -> Result<Session, CommandError> {
    let builder = Session::builder(tilewright_targets::catalogue()?).target_directories(&global.targets)?;
    let program = std::env::current_exe()
        .map_err(|error| CommandError::Broken(format!("cannot find this program's own file: {error}")))?;
    Ok(builder.plugins(&global.plugin).isolated(program, patience()?).open()?)
}

fn patience() -> Result<Duration, CommandError> {
    let Some(text) = std::env::var_os(TIMEOUT_VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(PATIENCE);
    };
    let text = text.to_string_lossy();
    let seconds = text.parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
        CommandError::Input(format!(
            "{TIMEOUT_VARIABLE}=`{text}` is no number of seconds above zero; the default is 60"
        ))
    })
}

/// A shape written as `128x64`.
pub fn shape(text: &str) -> Result<Vec<u64>, CommandError> {
    let wrong = |what: String| CommandError::Input(format!("shape `{text}`: {what}"));
    let mut sizes = Vec::new();
    for part in text.split('x') {
        let size: u64 = part.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => wrong(format!("{part} is more than 64 bits hold")),
            _ => wrong(format!("`{part}` is no whole number; a shape is written 128x64")),
        })?;
        if !size.is_power_of_two() {
            let remedy = size.checked_next_power_of_two().map(|next| format!("; enlarge it to {next} and mask"));
            return Err(wrong(format!("{size} is no power of two{}", remedy.unwrap_or_default())));
        }
        sizes.push(size);
    }
    Ok(sizes)
}

/// Width of an element given as a type or a number of bits.
pub fn element_bits(text: &str) -> Result<u32, CommandError> {
    if let Some(element) = Element::named(text) {
        return Ok(element.bits());
    }
    text.parse().map_err(|_| {
        let known: Vec<_> = Element::ALL.iter().map(|element| element.name()).collect();
        CommandError::Input(format!("unknown element `{text}`; known are {} and widths in bits", known.join(", ")))
    })
}

/// A distributed layout given as `name`.
pub fn distributed(
    session: &Session,
    name: &str,
    text: &str,
    target: Option<&str>,
    shape: &[u64],
) -> Result<LinearLayout, CommandError> {
    let request = LayoutRequest::from_text(text).map_err(|error| CommandError::of_question(name, text, error))?;
    request.resolve(session, target, shape).map_err(|error| of_named(name, error))
}

/// A layout of any kind given as `name`; one given by its bases is a memory layout where it has
/// offsets.
pub fn layout(
    session: &Session,
    name: &str,
    text: &str,
    target: Option<&str>,
    shape: &[u64],
) -> Result<Layout, CommandError> {
    match LayoutRequest::from_text(text).map_err(|error| CommandError::of_question(name, text, error))? {
        LayoutRequest::Given(layout) if !is_of_shape(&layout, shape) => {
            let outs =
                layout.outs().iter().map(|(dim, bits)| format!("{dim} 2^{bits}")).collect::<Vec<_>>().join(" x ");
            Err(CommandError::Input(format!(
                "{name}: the layout is of a tensor of {outs}, which is not the shape given"
            )))
        }
        LayoutRequest::Given(layout) if layout.ins().contains(Dim::OFFSET) => {
            Ok(Layout::Memory(MemoryLayout::linear(*layout)))
        }
        LayoutRequest::Given(layout) => Ok(Layout::Distributed(*layout)),
        LayoutRequest::Family(spec) => session.layout(target, &spec, shape).map_err(|error| of_named(name, error)),
    }
}

/// Whether a layout that leads to a tensor leads to one of this shape.
fn is_of_shape(layout: &LinearLayout, shape: &[u64]) -> bool {
    let outs = layout.outs();
    let leads_to_tensor = outs.dims().all(|dim| dim.tensor_axis().is_some());
    let mut sizes = shape.iter().enumerate();
    let fits = |(axis, &size): (usize, &u64)| {
        outs.iter().any(|(dim, bits)| dim.tensor_axis() == Some(axis) && 1u64.checked_shl(bits) == Some(size))
    };
    !leads_to_tensor || (outs.len() == shape.len() && sizes.all(fits))
}

/// The failure to resolve the layout given as `name`.
fn of_named(name: &str, error: PipelineError) -> CommandError {
    match CommandError::from(error) {
        CommandError::Input(message) => CommandError::Input(format!("{name}: {message}")),
        other => other,
    }
}
