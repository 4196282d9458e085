//! `tilewright layout op`: performs one operation of the table of layout operations.

use std::io::Write;

use clap::Args;
use serde_json::{Map, Value as Json, json};

use tilewright::LayoutRequest;
use tilewright::operations::{
    JsonInputKind, LAYOUT_OPERATIONS, LayoutOperationEntry, LayoutOperationError, LayoutOperationParameter,
    perform_cute_operation, perform_layout_operation, resolve_layout_inputs,
};
use tilewright_layout::{layout_from_json, layout_to_json, to_snake_case};

use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright layout op`.
#[derive(Debug, Args)]
pub struct Options {
    /// The operation, as `invert_and_compose` or by Triton's name, `invertAndCompose`; on CuTe layouts as
    /// `cute.composition`.
    name: Option<String>,
    /// Inputs of the operation: `layout='#ttg.blocked<{...}>'`, `order=dim1,dim0`, `outs=dim0:4,dim1:8`, or JSON. Those of
    /// `cute.` operations have no names: `'(4,8):(-8,1)' 8:2`.
    #[arg(value_name = "INPUT=VALUE")]
    inputs: Vec<String>,
    /// The shape of the tensor of layouts that are named by a family, as 16x16.
    #[arg(long, value_name = "SHAPE")]
    shape: Option<String>,
    /// Look layout families up in this target's plugin only.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Print a resulting layout as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `tilewright layout op`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    let Some(name) = &options.name else {
        for operation in LAYOUT_OPERATIONS {
            writeln!(out, "{}", usage(operation))?;
        }
        return Ok(());
    };
    if let Some(cute) = name.strip_prefix("cute.") {
        let result = perform_cute_operation(cute, &cute_inputs(&options.inputs)).map_err(failed)?;
        writeln!(out, "{}", result.as_str().map_or_else(|| result.to_string(), str::to_owned))?;
        return Ok(());
    }
    let operation = LayoutOperationEntry::find(name).map_err(failed)?;
    let shape = options.shape.as_deref().map(input::parse_shape).transpose()?;
    let mut inputs = inputs(operation, &options.inputs)?;
    let session = input::open_session(global)?;
    resolve_layout_inputs(&session, options.target.as_deref(), shape.as_deref(), operation, &mut inputs)
        .map_err(failed)?;
    let result = perform_layout_operation(operation.name, &inputs).map_err(failed)?;
    match layout_from_json(&result) {
        Ok(layout) if operation.gives_layout() && !options.json => writeln!(out, "{layout}")?,
        _ => writeln!(out, "{result}")?,
    }
    Ok(())
}

/// Converts the inputs of an operation on CuTe layouts to JSON: numbers, lists of tilers, and layouts as text.
fn cute_inputs(given: &[String]) -> Vec<Json> {
    let is_json = |text: &&str| text.starts_with(['[', '{']) || text.parse::<u64>().is_ok();
    let json = |text: &str| Some(text).filter(is_json).and_then(|text| serde_json::from_str(text).ok());
    given.iter().map(|text| json(text).unwrap_or_else(|| json!(text))).collect()
}

/// Writes an operation with its inputs: `zeros_1d size in_dim out_dim [out_dim_size]`.
fn usage(operation: &LayoutOperationEntry) -> String {
    let input = |input: &LayoutOperationParameter| match input.default {
        None => format!(" {}", input.name),
        Some(_) => format!(" [{}]", input.name),
    };
    operation.inputs.iter().fold(operation.name.to_owned(), |text, one| text + &input(one))
}

fn failed(error: LayoutOperationError) -> CommandError {
    CommandError::Input(error.to_string())
}

/// Converts `INPUT=VALUE` arguments to the JSON inputs of an operation.
fn inputs(operation: &LayoutOperationEntry, given: &[String]) -> Result<Json, CommandError> {
    let mut inputs = Map::new();
    for argument in given {
        let wrong = |why: &str| {
            CommandError::Input(format!("`{argument}`: {why}; `{}` takes {}", operation.name, usage(operation)))
        };
        let (name, text) = argument.split_once('=').ok_or_else(|| wrong("expected INPUT=VALUE"))?;
        let input = operation.input(name).or_else(|| operation.input(&to_snake_case(name)));
        let input = input.ok_or_else(|| wrong("this is none of its inputs"))?;
        let value = value(input.kind, text).map_err(|error| match error {
            None => wrong(&format!("expected {}", input.kind.description())),
            Some(error) => CommandError::from_layout_error(input.name, text, error),
        })?;
        if inputs.insert(input.name.to_owned(), value).is_some() {
            return Err(wrong("the input is given twice"));
        }
    }
    Ok(Json::Object(inputs))
}

/// Converts the text of an input to JSON. If the input must be a layout and is none, the error has the reason; for all
/// other inputs the error is `None`.
fn value(kind: JsonInputKind, text: &str) -> Result<Json, Option<tilewright::LayoutRequestError>> {
    if kind == JsonInputKind::Layout {
        return match LayoutRequest::from_text(text).map_err(Some)? {
            LayoutRequest::Given(layout) => Ok(layout_to_json(&layout)),
            // Other layouts stay text: the operation resolves them, since a family may be a plugin's.
            _ => Ok(json!(text)),
        };
    }
    if text.starts_with(['[', '{']) {
        return serde_json::from_str(text).map_err(|_| None);
    }
    let list = || text.split(',').filter(|part| !part.is_empty());
    let number = |text: &str| text.parse::<u64>().map(Json::from).ok();
    let sized = |pair: &str| pair.split_once(':').and_then(|(dim, size)| Some(json!([dim, number(size)?])));
    let value = match kind {
        JsonInputKind::Dim => Some(json!(text)),
        JsonInputKind::Number => number(text),
        JsonInputKind::Flag => text.parse::<bool>().map(Json::from).ok(),
        JsonInputKind::Dims => Some(list().collect()),
        JsonInputKind::Numbers => text.split([',', 'x']).map(number).collect::<Option<Vec<_>>>().map(Json::from),
        JsonInputKind::Sizes => list().map(sized).collect::<Option<Vec<_>>>().map(Json::from),
        _ => None,
    };
    value.ok_or(None)
}
