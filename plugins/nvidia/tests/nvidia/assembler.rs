//! A wrong path of the assembler in `TILEWRIGHT_PTXAS`: the error names the variable and the remedy.

use crate::prelude::*;
use std::path::Path;

#[test]
fn an_assembler_that_is_not_there_is_named_with_what_to_do() {
    match object::assemble_ptx(Path::new("/nonexistent/ptxas"), "sm_80", b"") {
        Err(CompileError::Backend(message)) => {
            assert!(message.contains("/nonexistent/ptxas") && message.contains("TILEWRIGHT_PTXAS"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}
