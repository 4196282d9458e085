//! Assembles, for every architecture, one kernel for each instruction of the architecture's table.

use crate::issue::{is_tested_elsewhere, target};
use crate::prelude::*;
use crate::tensor_instructions;
use tilewright_vendor_testkit::kernels;

fn is_assembled(name: &str, target: &NvidiaTarget, module: &Module) {
    let options = CompileOptions { emit: vec![CodeFormat::Object], optimisation: 2, ..CompileOptions::default() };
    let artifact = target.compile(module, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let object = artifact.payload(CodeFormat::Object).unwrap();
    assert_eq!(object.format, "cubin", "{name}");
    assert!(object.bytes.starts_with(b"\x7fELF"), "{name}");
}

pub fn objects_of_every_architecture_are_cubins() {
    for architecture in ARCHITECTURES {
        let target = NvidiaTarget::new(kernels::build_fake_target(architecture, &[32])).unwrap();
        is_assembled(architecture, &target, &kernels::all(StaticLaunchConfig::new(32, 4)));
    }
}

pub fn every_row_is_assembled() {
    for architecture in ARCHITECTURES {
        let kernels: Vec<_> = instructions_of(architecture)
            .iter()
            .filter(|row| !is_tested_elsewhere(row))
            .enumerate()
            .map(|(row_index, row)| build_instruction_kernel(&format!("issue{row_index}"), row).unwrap())
            .collect();
        is_assembled(architecture, &NvidiaTarget::new(target(architecture)).unwrap(), &kernels::module(kernels));
    }
}

pub fn rows_of_tensor_memory_are_assembled() {
    let target = crate::prelude::target("b200");
    let context = build_plan_context(&target);
    is_assembled("rows of tensor memory", &target, &tensor_instructions::issue_of_samples(context));
}
