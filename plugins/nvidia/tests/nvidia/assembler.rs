//! The assembler that a variable names wrongly: the error says which, and what to do.

use std::path::Path;

use tilewright_nvidia::object;
use tilewright_vendor_testkit::prelude::*;

#[test]
fn an_assembler_that_is_not_there_is_named_with_what_to_do() {
    match object::assemble_with(Path::new("/nonexistent/ptxas"), "sm_80", b"") {
        Err(CompileError::Backend(message)) => {
            assert!(message.contains("/nonexistent/ptxas") && message.contains("TILEWRIGHT_PTXAS"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}
