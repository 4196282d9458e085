//! Group `facts` of the suite: a target's description agrees with its vendor's documents, as quoted by the known
//! answers. Only this group detects a wrong description, as planner and emulator both take their numbers from it.
//!
//! A known fact is about one or several architectures. If no fact is known about a subject for the target's
//! architecture, the case is unsupported for this reason.

mod banks;
mod limits;

use super::law::{LawResult, law_failure};
use crate::{Case, CaseGroup, Context, KnownAnswer, Verdict};

/// The group `facts` of the conformance suite: cases on target descriptions against vendor documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct FactsGroup;

/// Function that compares a known fact with the target's description.
type Check = fn(&Context, &KnownAnswer) -> LawResult;

/// The subjects of facts, each with its check.
const KINDS: [(&str, Check); 2] = [("banks", banks::check), ("limits", limits::check)];

impl CaseGroup for FactsGroup {
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
    let is_about_it = |row: &&KnownAnswer| {
        let json = row.parse_json();
        let mut all = json["architectures"].as_array().into_iter().flatten();
        all.any(|name| name.as_str() == Some(architecture))
    };
    let known = context.answers().facts.get(about);
    let rows: Vec<&KnownAnswer> = known.into_iter().flatten().filter(is_about_it).collect();
    if rows.is_empty() {
        return Verdict::unsupported(format!("no known answer is about the {about} of `{architecture}`"));
    }
    let wrong = rows.iter().find_map(|row| Some((row, check(context, row).err()?)));
    match wrong {
        None => Verdict::pass(crate::EvidenceLevel::Layout).with_detail(format!("{} facts", rows.len())),
        Some((row, verdict)) if verdict.status == crate::Status::Fail => {
            let source = row.parse_json()["source"].as_str().unwrap_or("no source is named").to_owned();
            law_failure(format!("{}\nby fact {}: {source}", verdict.detail, row.id))
        }
        Some((_, verdict)) => verdict,
    }
}
