//! Group `facts`: what a target's description says is what its vendor's documents say, as the known answers have it. A
//! description that is wrong for planner and device alike is seen here alone.
//!
//! A row of facts is about one architecture or several. What no row is about is unsupported, with that reason.

mod banks;
mod limits;

use super::law::{Checked, broken};
use crate::{Case, Context, Group, Row, Verdict};

/// The group `facts`.
#[derive(Debug, Clone, Copy, Default)]
pub struct FactsGroup;

/// How a row of facts is compared with the target's description.
type Check = fn(&Context, &Row) -> Checked;

/// What facts are about, and their checks.
const KINDS: [(&str, Check); 2] = [("banks", banks::check), ("limits", limits::check)];

impl Group for FactsGroup {
    fn name(&self) -> &str {
        "facts"
    }

    fn cases(&self, _context: &Context) -> Vec<Case> {
        let case = |(about, check): (&'static str, Check)| {
            Case::new(format!("facts/{about}"), move |context: &Context| all(context, about, check))
        };
        KINDS.into_iter().map(case).collect()
    }
}

fn all(context: &Context, about: &str, check: Check) -> Verdict {
    let architecture = &context.target().description().architecture;
    let is_about_it = |row: &&Row| {
        let json = row.json();
        let mut all = json["architectures"].as_array().into_iter().flatten();
        all.any(|name| name.as_str() == Some(architecture))
    };
    let known = context.answers().facts.get(about);
    let rows: Vec<&Row> = known.into_iter().flatten().filter(is_about_it).collect();
    if rows.is_empty() {
        return Verdict::unsupported(format!("no known answer is about the {about} of `{architecture}`"));
    }
    let wrong = rows.iter().find_map(|row| Some((row, check(context, row).err()?)));
    match wrong {
        None => Verdict::pass(crate::Level::Layout).with_detail(format!("{} facts", rows.len())),
        Some((row, verdict)) if verdict.status == crate::Status::Fail => {
            let source = row.json()["source"].as_str().unwrap_or("no source is named").to_owned();
            broken(format!("{}\nby fact {}: {source}", verdict.detail, row.id))
        }
        Some((_, verdict)) => verdict,
    }
}
