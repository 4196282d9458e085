//! The cost model of shared-memory synthesis compared with execution, on a dot and on programs that were not used to
//! calibrate the model.

use crate::targets::target;
use tilewright_testkit::sample::{is_all, sample};
use tilewright_vendor_testkit::explicit::ranked::RankingStats;

#[test]
fn what_executes_less_is_predicted_to_take_less_where_nothing_was_mended() {
    let target = target("mi300x");
    let mut ranked = RankingStats::default();
    let names = vec!["explicit_moe", "explicit_attention", "explicit_decode", "explicit_gemm_edges", "explicit_int1"];
    for name in sample(names, 3, 0) {
        ranked.add_ablations("mi300x", &target, name);
    }
    let RankingStats { pairs, wrong, report } = ranked;
    println!("{pairs:?} pairs, {wrong:?} ranked wrongly\n{report}");
    assert!(pairs[0] + pairs[1] >= if is_all() { 30 } else { 6 }, "{pairs:?} pairs");
    assert!(wrong[0] == 0 && wrong[1] * 4 <= pairs[1].max(4), "of {pairs:?} pairs {wrong:?}\n{report}");
}
