//! Code of loads from global memory to LDS: the instruction, and waits that leave the latest loads in flight.
#![allow(clippy::unwrap_used)]

use tilewright_vendor_testkit::copies::staged;
use tilewright_vendor_testkit::prelude::*;

use crate::targets::target;

#[test]
fn waits_count_the_loads_of_the_groups_that_go_on() {
    for (name, row, copies) in [("mi300x", "global_load_lds_dword", 8), ("mi355x", "global_load_lds_dwordx4", 2)] {
        let target = target(name);
        let (copy, kernel) = staged(&target, false);
        assert_eq!((copy.instruction(), copy.issued_accesses()), (Some(row), copies), "{name}: {:?}", copy.rejected);
        let artifact = artifact(&target, vec![kernel], &[CodeFormat::Assembly, CodeFormat::Intermediate]).unwrap();
        let [assembly, llvm] =
            [CodeFormat::Assembly, CodeFormat::Intermediate].map(|form| artifact.payload_text(form).unwrap());
        // Two tensors are copied before the loop and one in it.
        assert!(assembly.matches(&format!("{row} ")).count() as u64 >= 3 * copies, "{assembly}");
        // LLVM adds waits, which may be longer; the kernel's own waits have a recognisable operand.
        for loads in [2 * copies, copies, 0] {
            let counters = loads & 0xf | (loads >> 4) << 14 | 0xf70;
            assert!(llvm.contains(&format!("s.waitcnt(i32 {counters})")), "{loads}\n{llvm}");
        }
        assert!(!assembly.contains("ds_write_b128"), "nothing goes through registers\n{assembly}");
    }
}
