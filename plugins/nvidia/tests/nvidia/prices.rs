//! Plans of conversions with this plugin's instructions compared with Triton's code: no plan is slower, each is
//! correct, and the planned matrix moves are in the code.

use crate::prelude::*;
use tilewright_vendor_testkit::prices;

#[test]
fn no_plan_is_slower_than_what_triton_emits() {
    check_no_plan_is_slower_than_what_triton_emits(Answers::Sample);
}

pub fn check_no_plan_is_slower_than_what_triton_emits(answers: Answers) {
    let own = |target: &TargetDescription| Some(NvidiaTarget::new(target.clone()).ok()?.instructions().to_vec());
    let rows = prices::all_rows(answers, own);
    assert!(!rows.is_empty());
    assert_eq!(prices::slower(&rows), BTreeSet::new(), "rows that are slower than Triton's");
}

#[test]
fn matrix_accesses_become_code() {
    check_matrix_accesses_become_code(Answers::Sample);
}

pub fn check_matrix_accesses_become_code(answers: Answers) {
    let target = target("h100");
    let h100 = target.description().clone();
    let rows = prices::all_rows(answers, |description| (*description == h100).then(|| target.instructions().to_vec()));
    let by_matrix =
        |row: &&prices::Compared| row.plan.stats.counts.matrix_stores + row.plan.stats.counts.matrix_loads > 0;
    let mut seen = 0;
    for row in rows.iter().filter(by_matrix) {
        let context = PlanContext::new(&h100).with_instructions(target.instructions());
        build_conversion_case([&row.src, &row.dst], row.bits, &row.plan, context)
            .and_then(|case| check_emulated(&case, context))
            .unwrap();
        let kernel = build_conversion_kernel("convert", [&row.src, &row.dst], row.bits, &row.plan, context).unwrap();
        let options = CompileOptions {
            emit: vec![CodeFormat::Assembly, CodeFormat::Object],
            optimisation: 2,
            ..CompileOptions::default()
        };
        let artifact = target.compile(&Module { kernels: vec![kernel] }, &options).unwrap();
        let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
        let count = |word: &str| ptx.lines().filter(|line| line.trim_start().starts_with(word)).count() as u64;
        let (stores, loads) = (row.plan.stats.counts.matrix_stores, row.plan.stats.counts.matrix_loads);
        // Warps with replicas store a share each, each in its own branch.
        let branches = if row.src.is_injective() { 1 } else { 1 << row.src.in_bits(Dim::WARP) };
        assert!((stores..=stores * branches).contains(&count("stmatrix.")), "{}: {ptx}", row.id);
        assert_eq!(count("ldmatrix."), loads, "{}: {ptx}", row.id);
        seen += 1;
    }
    assert!(seen > 0, "some conversion of the sample is by matrices");
    println!("{seen} conversions by matrices");
}
