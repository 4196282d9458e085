//! Names of the operations, one constant per row of the dialect files: a misspelled operation does not compile.

include!(concat!(env!("OUT_DIR"), "/operation_names.rs"));
