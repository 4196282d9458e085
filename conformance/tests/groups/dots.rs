//! The group of dots, on the invented GPU.

use conformance::groups::dot::Dots;
use conformance::{Case, Group, Level, Status, Verdict, list};

use super::context;
use super::invented::Flaw;

fn cases(leading: &str) -> Vec<Case> {
    let groups: [Box<dyn Group>; 1] = [Box::new(Dots)];
    let cases = list(&groups, &context(Flaw::None)).expect("names are right");
    cases.into_iter().filter(|case| case.name().starts_with(leading)).collect()
}

fn verdict(case: &Case, flaw: Flaw) -> Verdict {
    case.run(&context(flaw))
}

#[test]
fn every_dot_is_a_case_on_the_emulator_and_as_code() {
    for way in ["emulated", "code"] {
        let count = |list: &str| cases(&format!("dot/{way}/{list}/")).len();
        assert_eq!([count("table-5"), count("plain"), count("small")], [784, 11 * 4, 6 * 27]);
    }
}

#[test]
fn dots_are_right_by_the_instruction_and_without() {
    for (leading, unit) in [
        ("dot/emulated/plain/f16-f16-f16/", "by multiply.8x8x4"),
        ("dot/emulated/plain/i8-u8-i32/", "by multiply-adds"),
        ("dot/emulated/small/bf16-bf16-f32/", "by multiply-adds"),
        ("dot/emulated/table-5/i64-e4m3-f64/8x", "by multiply-adds"),
    ] {
        let all = cases(leading);
        assert!(!all.is_empty(), "{leading}");
        for case in all {
            let verdict = verdict(&case, Flaw::None);
            let shown = (verdict.status, verdict.level, verdict.detail.as_str());
            assert_eq!(shown, (Status::Pass, Some(Level::Emulated), unit), "{}", case.name());
        }
    }
}

#[test]
fn a_row_that_contradicts_itself_is_not_used() {
    for case in cases("dot/emulated/plain/f16-f16-f16/16x16x16/") {
        let verdict = verdict(&case, Flaw::RowHasOtherK);
        assert_eq!((verdict.status, verdict.detail.as_str()), (Status::Pass, "by multiply-adds"));
    }
}

#[test]
fn what_no_target_compiles_is_unsupported_and_says_why() {
    for case in cases("dot/code/small/f16-f16-f16/1x1x1/") {
        let verdict = verdict(&case, Flaw::None);
        assert_eq!(verdict.status, Status::Unsupported);
        assert!(verdict.detail.contains("invented hardware runs no code"), "{}", verdict.detail);
    }
}
