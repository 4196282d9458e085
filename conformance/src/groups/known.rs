//! Cases with known answers: one case checks all answers on a subject, and its failure quotes the wrong ones.

use super::law::{LawResult, case_name_part, law_failure};
use crate::{Case, Context, EvidenceLevel, KnownAnswer, KnownAnswersBySubject, Verdict};

/// Max number of known answers that a failure quotes in full.
const DETAILED_ROWS: usize = 4;

/// Returns one case for each subject of the known answers, named `GROUP/answers/SUBJECT`. The case runs `check` on each
/// answer about the subject.
pub(super) fn cases(
    group: &str,
    rows: &KnownAnswersBySubject,
    check: fn(&Context, &KnownAnswer) -> LawResult,
) -> Vec<Case> {
    let case = |(about, rows): (&String, &Vec<KnownAnswer>)| {
        let rows = rows.clone();
        Case::new(format!("{group}/answers/{}", case_name_part(about)), move |context| all(context, &rows, check))
    };
    rows.iter().map(case).collect()
}

fn all(context: &Context, rows: &[KnownAnswer], check: fn(&Context, &KnownAnswer) -> LawResult) -> Verdict {
    let mut wrong = Vec::new();
    for row in rows {
        match check(context, row) {
            Ok(()) => {}
            Err(verdict) if verdict.status == crate::Status::Fail => wrong.push((row, verdict.detail)),
            Err(verdict) => {
                let detail = format!("row {}: {}", row.id, verdict.detail);
                return verdict.with_detail(detail);
            }
        }
    }
    if wrong.is_empty() {
        return Verdict::pass(EvidenceLevel::Layout).with_detail(format!("{} known answers", rows.len()));
    }
    let details: Vec<_> =
        wrong.iter().take(DETAILED_ROWS).map(|(row, detail)| format!("row {}: {detail}", row.id)).collect();
    let rest: Vec<_> = wrong.iter().skip(DETAILED_ROWS).map(|(row, _)| row.id.as_str()).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("\nand rows {}", rest.join(", ")) };
    law_failure(format!("{} of {} known answers differ\n{}{rest}", wrong.len(), rows.len(), details.join("\n")))
}
