//! The error for invalid PTX contains the assembler's message.

use crate::prelude::*;

fn refusal(architecture: &str, ptx: &[u8]) -> String {
    match object::assemble_ptx(&object::find_assembler().unwrap(), architecture, ptx) {
        Err(CompileError::Backend(message)) => message,
        other => panic!("{other:?}"),
    }
}

pub fn bad_ptx_is_refused_with_its_line() {
    let message = refusal("sm_80", b".version 8.0\n.target sm_80\n.address_size 64\nnonsense;\n");
    assert!(message.contains("kernel.ptx, line 4"), "{message}");
    let message = refusal("sm_1", b"");
    assert!(message.contains("sm_1"), "{message}");
}
