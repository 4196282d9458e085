//! Errors as exceptions of the Python module `tilewright.errors`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tilewright::run::EmulatedRunError;
use tilewright::{ProgramError, SessionError};
use tilewright_emulator::{Fault, FaultKind};
use tilewright_kernel::SourceLocation;

/// Makes an exception of the class named `class` in `tilewright.errors`, with a message and attributes.
fn exception(py: Python<'_>, class: &str, message: &str, attributes: &Bound<'_, PyDict>) -> PyErr {
    let raised = py
        .import("tilewright.errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call((message,), Some(attributes)));
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// Makes the exception for an invalid argument or an unknown name (`InputError`).
pub fn input(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "InputError", message, &PyDict::new(py))
}

/// Makes the exception for a failed request: `InputError` for an unknown target or an invalid layout family, otherwise
/// `CompileError`.
pub fn pipeline(py: Python<'_>, error: &SessionError) -> PyErr {
    match error {
        SessionError::Target(_) | SessionError::Family(_) => input(py, &error.to_string()),
        _ => exception(py, "CompileError", &error.to_string(), &PyDict::new(py)),
    }
}

/// Makes the exception for a program that does not compile, with the error's line and column in the program's text:
/// `UnsupportedError` if the target lacks something, otherwise `CompileError`.
pub fn program(py: Python<'_>, error: &ProgramError) -> PyErr {
    let attributes = PyDict::new(py);
    let located = error.location().map_or(Ok(()), |location| {
        attributes.set_item("line", location.line).and_then(|()| attributes.set_item("column", location.column))
    });
    let class = if error.is_unsupported() { "UnsupportedError" } else { "CompileError" };
    located.map_or_else(|error| error, |()| exception(py, class, &error.to_string(), &attributes))
}

/// Makes the exception for a failed run on the emulator: `Fault` with attributes that locate it, `UnsupportedError` if
/// the target lacks the shared memory, or `InputError` for wrong arguments.
pub fn run(py: Python<'_>, error: &EmulatedRunError) -> PyErr {
    match error {
        EmulatedRunError::Fault(fault) if error.is_unsupported() => {
            exception(py, "UnsupportedError", &fault.to_string(), &PyDict::new(py))
        }
        EmulatedRunError::Fault(fault) => fault_attributes(py, fault)
            .map_or_else(|error| error, |attributes| exception(py, "Fault", &fault.to_string(), &attributes)),
        _ => input(py, &error.to_string()),
    }
}

fn fault_attributes<'py>(py: Python<'py>, fault: &Fault) -> PyResult<Bound<'py, PyDict>> {
    let attributes = PyDict::new(py);
    attributes.set_item("kernel", &fault.kernel)?;
    attributes.set_item("kind", kind(&fault.kind))?;
    attributes.set_item("reason", fault.kind.to_string())?;
    if let Some(location) = &fault.location {
        attributes.set_item("operation", &location.text)?;
        attributes.set_item("block", location.block)?;
        attributes.set_item("warp", location.warp)?;
        attributes.set_item("lane", location.lane)?;
        attributes.set_item("frames", frames(location.source.as_deref()))?;
    }
    if let Some(other) = fault.kind.conflicting_access() {
        attributes.set_item("other_frames", frames(other.source.as_deref()))?;
    }
    Ok(attributes)
}

/// Returns the source lines of an operation as (file, line, column), the innermost inlined call first. `source` is the
/// location's text from the kernel IR.
fn frames(source: Option<&str>) -> Vec<(String, u32, u32)> {
    let location = source.and_then(SourceLocation::parse);
    let frames = location.iter().flat_map(SourceLocation::inlined_frames);
    frames.map(|frame| (frame.file.clone(), frame.line, frame.column)).collect()
}

/// Returns the name of a kind of fault, the attribute `kind` of the Python exception `Fault`.
fn kind(kind: &FaultKind) -> &'static str {
    match kind {
        FaultKind::OutOfBounds { .. } => "out_of_bounds",
        FaultKind::Uninitialised { .. } | FaultKind::TensorUninitialised { .. } => "uninitialised",
        FaultKind::Misaligned { .. } => "misaligned",
        FaultKind::Race { .. } | FaultKind::GlobalRace { .. } | FaultKind::TensorRace { .. } => "race",
        FaultKind::InFlight { .. }
        | FaultKind::TensorInFlight { .. }
        | FaultKind::Unfenced { .. }
        | FaultKind::Unfinished { .. }
        | FaultKind::Pending(_) => "missing_wait",
        FaultKind::StepLimit { .. } => "step_limit",
        FaultKind::Assertion { .. } => "assertion",
        FaultKind::NeverCompletes { .. } => "deadlock",
        FaultKind::Divergent { .. }
        | FaultKind::NotSame { .. }
        | FaultKind::BarrierNotReached { .. }
        | FaultKind::ClusterBarrierNotReached { .. }
        | FaultKind::NotIssuedTogether { .. } => "divergent",
        FaultKind::Launch(_) | FaultKind::Argument { .. } => "launch",
        FaultKind::Assembly { .. } | FaultKind::Function { .. } | FaultKind::UnknownInstruction { .. } => "unsupported",
        _ => "invalid",
    }
}

/// The reason why code was not generated. Code is generated without the interpreter's lock, so the exception is made
/// later ([`Refused::raise`]).
pub enum Refused {
    /// A plugin cannot be opened.
    Input(String),
    /// The code generator rejected the kernel.
    Pipeline(SessionError),
}

impl Refused {
    /// Makes the Python exception for this reason.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Input(message) => exception(py, "CompileError", &message, &PyDict::new(py)),
            Self::Pipeline(error) => pipeline(py, &error),
        }
    }
}
