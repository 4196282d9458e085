//! What the commands read: shapes, elements, layouts, and the session that they ask.

use std::time::Duration;

use tilewright::kernel::Element;
use tilewright::layout::LinearLayout;
use tilewright::pipeline::{LayoutQuestion, Session};
use tilewright::plugin::{Discovery, HostCommand, Registry};

use crate::Global;
use crate::failure::Failure;

/// How long a plugin may take for one answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The targets and plugins that the options and the environment name. Plugins run in processes of
/// their own, so that none can take the command down with it.
pub fn session(global: &Global) -> Result<Session, Failure> {
    let mut catalogue = tilewright_targets::catalogue()?;
    for directory in &global.targets {
        catalogue.add_directory(directory)?;
    }
    let program = std::env::current_exe()
        .map_err(|error| Failure::Broken(format!("cannot find this program's own file: {error}")))?;
    let mut registry = Registry::isolated(HostCommand::new(program, ["plugin-host"]), PATIENCE);
    let discovery = global.plugin.iter().fold(Discovery::standard(), |discovery, file| discovery.file(file));
    registry.discover(&discovery).map_err(|error| Failure::Broken(error.to_string()))?;
    Ok(Session::new(catalogue, registry))
}

/// A shape written as `128x64`.
pub fn shape(text: &str) -> Result<Vec<u64>, Failure> {
    let wrong = |what: String| Failure::Input(format!("shape `{text}`: {what}"));
    let mut sizes = Vec::new();
    for part in text.split('x') {
        let size: u64 =
            part.parse().map_err(|_| wrong(format!("`{part}` is no whole number; a shape is written 128x64")))?;
        if !size.is_power_of_two() {
            let enlarged = size.checked_next_power_of_two().unwrap_or(1);
            return Err(wrong(format!("{size} is no power of two; enlarge it to {enlarged} and mask")));
        }
        sizes.push(size);
    }
    Ok(sizes)
}

/// Width of an element given as a type or a number of bits.
pub fn element_bits(text: &str) -> Result<u32, Failure> {
    if let Some(element) = Element::ALL.iter().find(|element| element.name() == text) {
        return Ok(element.bits());
    }
    text.parse().map_err(|_| {
        let known: Vec<_> = Element::ALL.iter().map(|element| element.name()).collect();
        Failure::Input(format!("unknown element `{text}`; known are {} and widths in bits", known.join(", ")))
    })
}

/// A distributed layout given as `name`.
pub fn distributed(
    session: &Session,
    name: &str,
    text: &str,
    target: Option<&str>,
    shape: &[u64],
) -> Result<LinearLayout, Failure> {
    let question = LayoutQuestion::from_text(text).map_err(|error| Failure::of_question(name, text, error))?;
    question.resolve(session, target, shape).map_err(|error| match Failure::from(error) {
        Failure::Input(message) => Failure::Input(format!("{name}: {message}")),
        other => other,
    })
}
