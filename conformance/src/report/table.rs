//! Reports results as Markdown tables of targets by groups, one table for each level of evidence.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Report, Tally};
use crate::{EvidenceLevel, Status};

/// Returns the Markdown text of the tables, under headings of level three.
pub(crate) fn table(report: &Report) -> String {
    let groups: BTreeSet<_> = report.targets.values().flat_map(|tally| tally.groups.keys().cloned()).collect();
    let groups: Vec<_> = groups.into_iter().collect();
    let mut text = String::new();
    section(&mut text, "Cases", &groups, report, |tally, group| {
        tally.groups.get(group).map_or(0, |counts| counts.values().sum())
    });
    for level in EvidenceLevel::ALL {
        section(&mut text, &format!("Passed at level `{level}`"), &groups, report, |tally, group| {
            tally.group_levels.get(group).and_then(|levels| levels.get(&level)).copied().unwrap_or(0)
        });
    }
    for status in Status::ALL.into_iter().filter(|&status| status != Status::Pass) {
        let heading = if status == Status::Quality { "Passed, above the lower bound" } else { status.name() };
        section(&mut text, heading, &groups, report, |tally, group| {
            tally.groups.get(group).and_then(|counts| counts.get(&status)).copied().unwrap_or(0)
        });
    }
    text
}

/// Appends a table to `text`, under `heading`: a row for each target, a column for each group, and `count` of the
/// target's tally and the group in each cell. Appends nothing if all counts are zero.
fn section(
    text: &mut String,
    heading: &str,
    groups: &[String],
    report: &Report,
    count: impl Fn(&Tally, &str) -> usize,
) {
    let rows: Vec<(&str, Vec<usize>)> = report
        .targets
        .iter()
        .map(|(target, tally)| (target.as_str(), groups.iter().map(|group| count(tally, group)).collect()))
        .collect();
    if rows.iter().all(|(_, counts)| counts.iter().all(|&count| count == 0)) {
        return;
    }
    let names: Vec<_> = groups.iter().map(|group| format!("`{group}`")).collect();
    // Writing to a string does not fail, so the result is ignored.
    let _ = writeln!(text, "### {heading}\n\n| target | {} | all |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(groups.len() + 1));
    for (target, counts) in rows {
        let cells: Vec<_> =
            counts.iter().map(|&count| if count == 0 { String::new() } else { count.to_string() }).collect();
        let _ = writeln!(text, "| `{target}` | {} | {} |", cells.join(" | "), counts.iter().sum::<usize>());
    }
    text.push('\n');
}
