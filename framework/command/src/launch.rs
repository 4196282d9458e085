//! The launch of a program: grid, integer arguments and bytes of buffers, from the JSON file of a case.

use std::path::Path;

use serde_json::Value as Json;

use tilewright_assign::synthesis::{LaunchPredictionInput, LaunchValues};

use crate::failure::CommandError;
use crate::limits::read_text;

/// Reads the launch that a case (`docs/tile-ir.md`) states. Only `grid`, the values of `args` and the bytes of
/// `buffers` are read, so that a launch without data needs nothing else.
pub fn read_launch(file: &Path) -> Result<LaunchPredictionInput, CommandError> {
    let wrong = |reason: String| CommandError::Input(format!("{}: {reason}", file.display()));
    let text = read_text(file).map_err(|error| wrong(error.to_string()))?;
    let case: Json = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let list = |name: &str| {
        let found = case.get(name).and_then(Json::as_array);
        found.ok_or_else(|| wrong(format!("`{name}`: expected an array")))
    };
    let mut grid = [1; 3];
    let counts = list("grid")?;
    if counts.len() > grid.len() {
        return Err(wrong("`grid`: expected at most three numbers of programs".to_owned()));
    }
    for (count, given) in grid.iter_mut().zip(counts) {
        let given = given.as_u64().filter(|given| *given > 0 && *given <= u64::from(u32::MAX));
        *count = given.ok_or_else(|| wrong("`grid`: expected positive numbers of programs".to_owned()))?;
    }
    let arguments = list("args")?.iter().map(|argument| argument.get("value").and_then(Json::as_i64)).collect();
    let buffers = case.get("buffers").and_then(Json::as_object).filter(|buffers| !buffers.is_empty());
    let bytes = buffers.and_then(|buffers| buffers.values().map(|buffer| buffer.get("bytes")?.as_u64()).sum());
    Ok(LaunchPredictionInput { values: LaunchValues { grid, arguments }, buffer_bytes: bytes })
}
