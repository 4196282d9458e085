//! Names of the operations, a constant for each row of the dialect files: a misspelt operation does not compile.

include!(concat!(env!("OUT_DIR"), "/operation_names.rs"));
