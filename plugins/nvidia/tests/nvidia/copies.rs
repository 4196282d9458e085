//! Asynchronous copies as PTX: `cp.async`, its groups, and waits that leave the latest groups in flight.

use crate::prelude::*;
use tilewright_vendor_testkit::copies::staged;

#[test]
fn groups_are_committed_and_all_but_the_latest_waited_for() {
    let target = target("a100");
    for masked in [false, true] {
        let (copy, kernel) = staged(&target, masked);
        // 8 KiB are copied by 128 lanes, 16 bytes at a time.
        assert_eq!((copy.instruction(), copy.issued_accesses()), (Some("cp.async.cg.shared.global.16"), 4));
        let ptx = assembly(&target, vec![kernel]);
        let count = |what: &str| ptx.matches(what).count();
        // Two tensors are copied before the loop and one in it, which may be unrolled.
        assert!(count("cp.async.cg.shared.global") >= 3 * 4, "{ptx}");
        assert!(count("cp.async.commit_group") >= 3, "{ptx}");
        let words: Vec<&str> = ptx.split_whitespace().collect();
        for outstanding in ["2;", "1;", "0;"] {
            assert!(words.windows(2).any(|two| two == ["cp.async.wait_group", outstanding]), "{outstanding}\n{ptx}");
        }
        assert_eq!(count("ld.global.v4") + count("st.shared.v4"), 0, "nothing goes through registers\n{ptx}");
    }
}
