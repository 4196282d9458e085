//! Targets of this repository by their names.

use crate::prelude::*;
use tilewright_targets::FILES;

/// The description of the target with this name.
pub fn described(name: &str) -> TargetDescription {
    let file = FILES.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(name));
    let (file, text) = file.unwrap_or_else(|| panic!("no file for {name}"));
    TargetDescription::from_toml(file, text).unwrap_or_else(|error| panic!("{error}"))
}

/// A target with its instructions, as plans take it.
pub fn context(target: &dyn Target) -> PlanContext<'_> {
    PlanContext::of(target.description()).with_instructions(target.instructions())
}
