//! The assembler accepts the PTX that the tests of the virtual device run.

use super::ptxas::assemble;

pub fn the_virtual_device_reads_ptx() {
    let bodies = include_str!("../../nvidia/virtual_device/rows.rs")
        .lines()
        .filter_map(|line| line.trim().strip_prefix("(\"")?.split_once("\",").map(|(body, _)| body));
    // Eight-bit types and some modes exist only on later processors.
    let text: Vec<String> = bodies
        .filter(|body| body.ends_with(';') && !body.contains("e4m3") && !body.contains("e5m2"))
        .enumerate()
        .map(|(row_index, body)| format!(".visible .entry k{row_index}(.param .u64 io) {{\n.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<40>; .reg .b64 %d<20>;\n.reg .b64 %io; .reg .b32 %lane; ld.param.u64 %io, [io]; mov.u32 %lane, %tid.x;\n{body}\nst.global.u32 [%io], %r0; ret; }}\n"))
        .collect();
    assert!(text.len() > 100, "{} instructions were found", text.len());
    assemble("rows", "sm_80", &format!(".version 8.0\n.target sm_80\n.address_size 64\n{}", text.concat()));
}
