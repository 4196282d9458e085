//! Cases that ask known answers: all rows about one thing are a case, whose failure names the rows.

use super::law::{Checked, broken, word};
use crate::{Case, Context, Level, Row, Rows, Verdict};

/// So many rows are told of in full.
const TOLD: usize = 4;

/// One case for each thing that there are rows about, named `GROUP/answers/THING`.
pub(super) fn cases(group: &str, rows: &Rows, check: fn(&Context, &Row) -> Checked) -> Vec<Case> {
    let case = |(about, rows): (&String, &Vec<Row>)| {
        let rows = rows.clone();
        Case::new(format!("{group}/answers/{}", word(about)), move |context| all(context, &rows, check))
    };
    rows.iter().map(case).collect()
}

fn all(context: &Context, rows: &[Row], check: fn(&Context, &Row) -> Checked) -> Verdict {
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
        return Verdict::pass(Level::Layout).with_detail(format!("{} known answers", rows.len()));
    }
    let told: Vec<_> = wrong.iter().take(TOLD).map(|(row, detail)| format!("row {}: {detail}", row.id)).collect();
    let rest: Vec<_> = wrong.iter().skip(TOLD).map(|(row, _)| row.id.as_str()).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("\nand rows {}", rest.join(", ")) };
    broken(format!("{} of {} known answers are others\n{}{rest}", wrong.len(), rows.len(), told.join("\n")))
}
