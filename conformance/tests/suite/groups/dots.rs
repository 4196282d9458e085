//! Tests of the group of dots (matrix multiplies), on the invented GPU.

use conformance::groups::dot::{Dots, ScaledDots};
use conformance::{Case, CaseGroup, EvidenceLevel, Status, Verdict, list_cases};

use super::context;
use super::invented::Flaw;

fn cases(leading: &str) -> Vec<Case> {
    let groups: [Box<dyn CaseGroup>; 2] = [Box::new(Dots), Box::new(ScaledDots)];
    let cases = list_cases(&groups, &context(Flaw::None)).expect("names are right");
    cases.into_iter().filter(|case| case.name().starts_with(leading)).collect()
}

fn verdict(case: &Case, flaw: Flaw) -> Verdict {
    case.run(&context(flaw))
}

#[test]
fn every_dot_is_a_case_on_the_emulator_and_as_code() {
    for kind in ["emulated", "code"] {
        let count = |list: &str| cases(&format!("dot/{kind}/{list}/")).len();
        let counts = [count("table-5"), count("plain"), count("small"), count("narrow")];
        assert_eq!(counts, [784, 11 * 4, 6 * 27, 14 * 7]);
        assert_eq!(cases(&format!("dot-scaled/{kind}/")).len(), 588);
    }
}

#[test]
fn dots_are_right_by_the_instruction_and_without() {
    for (leading, atom) in [
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
            assert_eq!(shown, (Status::Pass, Some(EvidenceLevel::Emulated), atom), "{}", case.name());
        }
    }
}

#[test]
fn scaled_operands_are_right_by_plain_multiply_adds() {
    for leading in ["dot-scaled/emulated/e2m1.e8m0-bf16/", "dot-scaled/emulated/e4m3-e2m3.e8m0/"] {
        let all = cases(leading);
        assert_eq!(all.len(), 4, "{leading}");
        for case in all {
            let verdict = verdict(&case, Flaw::None);
            assert!(matches!(verdict.status, Status::Pass | Status::Unsupported), "{}: {verdict:?}", case.name());
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
fn cases_that_do_not_compile_are_unsupported_with_a_reason() {
    for case in cases("dot/code/small/f16-f16-f16/1x1x1/") {
        let verdict = verdict(&case, Flaw::None);
        assert_eq!(verdict.status, Status::Unsupported);
        assert!(verdict.detail.contains("invented hardware runs no code"), "{}", verdict.detail);
    }
}
