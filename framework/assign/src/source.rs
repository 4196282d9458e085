//! Source lines of operations, for reports.

use tilewright_kernel::SourceLocation;
use tilewright_tile::{FunctionBody, Op};

/// Returns the source line of an operation, with those of the calls through which it was inlined; `None` if the program
/// gives no location.
pub(super) fn source(body: &FunctionBody, op: Op) -> Option<SourceLocation> {
    body.op(op).location.written.as_deref().and_then(SourceLocation::parse)
}

/// Returns a suffix for the name of an operation or value in a report, ` at FILE:LINE:COLUMN`; empty without a source
/// line.
pub(super) fn suffix(source: Option<&SourceLocation>) -> String {
    source.map(|source| format!(" at {source}")).unwrap_or_default()
}
