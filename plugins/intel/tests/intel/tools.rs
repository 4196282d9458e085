//! Environment variables that name a wrong path of an external tool: the error has the variable's name and a remedy.

use std::path::Path;

use tilewright_intel::compile::{offline, outside};
use tilewright_plugin::ExternalTool;
use tilewright_vendor_testkit::prelude::*;

fn names(error: CompileError, file: &str, tool: ExternalTool) {
    let CompileError::Backend(message) = error else { panic!("{error}") };
    assert!(message.contains(file) && message.contains(tool.variable), "{message}");
}

#[test]
fn a_validator_that_is_not_there_is_named_with_what_to_do() {
    let file = "/nonexistent/spirv-val";
    let error = outside::validate_spirv(Path::new(file), &[]).expect_err("no validator, no verdict");
    names(error, file, outside::SPIRV_VAL);
}

#[test]
fn a_compiler_that_is_not_there_is_named_with_what_to_do() {
    let file = "/nonexistent/ocloc";
    let error = offline::check_with_ocloc(Path::new(file), &[], "pvc", "").expect_err("no compiler, no verdict");
    names(error, file, offline::OCLOC);
}
