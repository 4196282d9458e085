//! Source lines of operations, for reports.

use tilewright_kernel::SourceLocation;
use tilewright_tile::{Body, Op};

/// Returns the source line of an operation and the calls around it; `None` if the program gives no location.
pub(super) fn source(body: &Body, op: Op) -> Option<SourceLocation> {
    body.op(op).location.written.as_deref().and_then(SourceLocation::parse)
}

/// Returns the line to append to the name of an operation or a value, ` at FILE:LINE:COLUMN`.
pub(super) fn suffix(source: Option<&SourceLocation>) -> String {
    source.map(|source| format!(" at {source}")).unwrap_or_default()
}
