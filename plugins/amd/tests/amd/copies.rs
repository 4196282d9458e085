//! Loads from global memory to LDS as code: which instruction, and waits that let the latest go on.
#![allow(clippy::unwrap_used)]

use tilewright_amd::AmdTarget;
use tilewright_kernel::Module;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::{Stages, staged_copy_kernel};
use tilewright_plan::movement::{CopyQuestion, GlobalTensor, Means, copy_to_shared};
use tilewright_plugin::{CompileOptions, Emit, Target};
use tilewright_target::TargetDescription;

fn target(file: &str, text: &str) -> AmdTarget {
    AmdTarget::new(TargetDescription::from_toml(file, text).unwrap()).unwrap()
}

/// The row, its copies of a warp, and the assembly and LLVM's form of three buffers, for 64 rows of 64 elements of 16 bits.
fn staged(target: &AmdTarget) -> (String, u64, [String; 2]) {
    let columns = LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(1)).unwrap();
    let rows = LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(0)).unwrap();
    let memory = MemoryLayout::linear(columns.direct_sum(&rows).unwrap());
    let global = GlobalTensor::row_major(&[64, 64], 16);
    let question = CopyQuestion {
        global: &global,
        memory: &memory,
        element_bits: 16,
        lanes: 64,
        warps: 4,
        masked: false,
        mapped: false,
    };
    let means = Means::of(target.description()).with_instructions(target.instructions());
    let copy = copy_to_shared(&question, means).unwrap();
    let name = copy.instruction().unwrap_or_else(|| panic!("through registers: {:?}", copy.closed)).to_owned();
    let stages = Stages { buffers: 3, tensors: 5, omitted: None };
    let kernel = staged_copy_kernel("staged", &copy, &memory, 16, stages).unwrap();
    let options = CompileOptions { emit: vec![Emit::Assembly, Emit::Intermediate], ..CompileOptions::default() };
    let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap();
    (name, copy.accesses(), [Emit::Assembly, Emit::Intermediate].map(|form| artifact.text(form).unwrap().to_owned()))
}

#[test]
fn waits_count_the_loads_of_the_groups_that_go_on() {
    for (file, text, row, mnemonic, copies) in [
        (
            "mi300x.toml",
            include_str!("../../../../targets/mi300x.toml"),
            "global_load_lds_dword",
            "global_load_lds_dword ",
            8,
        ),
        (
            "mi355x.toml",
            include_str!("../../../../targets/mi355x.toml"),
            "global_load_lds_dwordx4",
            "global_load_lds_dwordx4 ",
            2,
        ),
    ] {
        let (name, accesses, [assembly, llvm]) = staged(&target(file, text));
        assert_eq!((name.as_str(), accesses), (row, copies), "{file}");
        // Two tensors before the loop and one in it.
        assert!(assembly.matches(mnemonic).count() as u64 >= 3 * copies, "{assembly}");
        // LLVM adds waits of its own, which may be longer: what is asked for stands in its own form.
        for loads in [2 * copies, copies, 0] {
            let counters = loads & 0xf | (loads >> 4) << 14 | 0xf70;
            assert!(llvm.contains(&format!("s.waitcnt(i32 {counters})")), "{loads}\n{llvm}");
        }
        assert!(!assembly.contains("ds_write_b128"), "nothing goes through registers\n{assembly}");
    }
}
