//! Finds targets of this repository by name.

use crate::prelude::*;
use tilewright_targets::TARGET_FILES;

/// Returns the description of the target with this name, such as `h100`; panics if no target file has the name.
pub fn target_description(name: &str) -> TargetDescription {
    let file = TARGET_FILES.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(name));
    let (file, text) = file.unwrap_or_else(|| panic!("no file for {name}"));
    TargetDescription::from_toml(file, text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a plan context with the target's description and instruction table.
pub fn build_plan_context(target: &dyn Target) -> PlanContext<'_> {
    PlanContext::new(target.description()).with_instructions(target.instructions())
}
