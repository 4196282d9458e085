//! Copies past the registers as PTX: `cp.async`, its groups, and waits that let the latest go on.
#![allow(clippy::unwrap_used)]

use tilewright_kernel::{Kernel, Module};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::{Stages, staged_copy_kernel};
use tilewright_nvidia::NvidiaTarget;
use tilewright_plan::movement::{CopyQuestion, GlobalTensor, Means, copy_to_shared};
use tilewright_plugin::{CompileOptions, Emit, Target};
use tilewright_target::TargetDescription;

fn a100() -> NvidiaTarget {
    let text = include_str!("../../../../targets/a100.toml");
    NvidiaTarget::new(TargetDescription::from_toml("a100.toml", text).unwrap()).unwrap()
}

/// 64 rows of 64 elements of 16 bits, row after row.
fn rows() -> MemoryLayout {
    let columns = LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(1)).unwrap();
    let rows = LinearLayout::identity(64, Dim::OFFSET, Dim::tensor(0)).unwrap();
    MemoryLayout::linear(columns.direct_sum(&rows).unwrap())
}

fn staged(target: &dyn Target, masked: bool) -> Kernel {
    let (global, memory) = (GlobalTensor::row_major(&[64, 64], 16), rows());
    let question =
        CopyQuestion { global: &global, memory: &memory, element_bits: 16, lanes: 32, warps: 4, masked, mapped: false };
    let means = Means::of(target.description()).with_instructions(target.instructions());
    let copy = copy_to_shared(&question, means).unwrap();
    // 8 KiB by 128 lanes of 16 bytes.
    assert_eq!((copy.instruction(), copy.accesses()), (Some("cp.async.cg.shared.global.16"), 4));
    let stages = Stages { buffers: 3, tensors: 5, omitted: None };
    staged_copy_kernel("staged", &copy, &memory, 16, stages).unwrap()
}

#[test]
fn groups_are_committed_and_all_but_the_latest_waited_for() {
    let target = a100();
    for masked in [false, true] {
        let module = Module { kernels: vec![staged(&target, masked)] };
        let options = CompileOptions { emit: vec![Emit::Assembly], ..CompileOptions::default() };
        let artifact = target.compile(&module, &options).unwrap();
        let ptx = artifact.text(Emit::Assembly).unwrap();
        let count = |what: &str| ptx.matches(what).count();
        // Two tensors before the loop and one in it, whether or not the loop is unrolled.
        assert!(count("cp.async.cg.shared.global") >= 3 * 4, "{ptx}");
        assert!(count("cp.async.commit_group") >= 3, "{ptx}");
        for wait in ["cp.async.wait_group \t2", "cp.async.wait_group \t1", "cp.async.wait_group \t0"] {
            assert!(ptx.replace("wait_group ", "wait_group \t").replace("\t\t", "\t").contains(wait), "{wait}\n{ptx}");
        }
        assert_eq!(count("ld.global.v4") + count("st.shared.v4"), 0, "nothing goes through registers\n{ptx}");
    }
}
