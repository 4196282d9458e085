//! The conformance runner as a library.
