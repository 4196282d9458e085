//! Prints the results of running a pack (a folder of compiled test cases) as tables for people.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::{PlayedCase, PlayedPack, PlayedStatus};

impl fmt::Display for PlayedPack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({}) on {}", self.target, self.architecture, self.device)?;
        write_groups(f, &self.cases)?;
        write_speedups(f, &self.cases)?;
        for case in self.cases.iter().filter(|case| case.status != PlayedStatus::Pass) {
            writeln!(f, "{} {}\n    {}", case.status, case.name, case.detail)?;
        }
        Ok(())
    }
}

/// Writes, for each group of cases in the suite, the number of cases by status, and the groups' times.
fn write_groups(f: &mut fmt::Formatter<'_>, cases: &[PlayedCase]) -> fmt::Result {
    let mut groups: BTreeMap<&str, Vec<&PlayedCase>> = BTreeMap::new();
    for case in cases {
        groups.entry(case.name.split('/').next().unwrap_or_default()).or_default().push(case);
    }
    writeln!(
        f,
        "\n{:16} {:>6} {:>6} {:>12} {:>7} {:>12}",
        "group", "pass", "fail", "unsupported", "broken", "median us"
    )?;
    for (group, cases) in groups {
        let count = |status| cases.iter().filter(|case| case.status == status).count();
        let [pass, fail, unsupported, broken] =
            [PlayedStatus::Pass, PlayedStatus::Fail, PlayedStatus::Unsupported, PlayedStatus::Broken].map(count);
        let mut medians: Vec<u64> = cases.iter().filter_map(|case| case.median_nanoseconds()).collect();
        medians.sort_unstable();
        let time = medians.get(medians.len() / 2).map_or("-".to_owned(), |&time| microseconds(time));
        writeln!(f, "{group:16} {pass:6} {fail:6} {unsupported:12} {broken:7} {time:>12}")?;
    }
    Ok(())
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{:.2}", nanoseconds as f64 / 1000.0)
}

/// Writes a table for each figure (plot of measurements): the predicted and the measured speedup of each variant at
/// each point over the figure's baseline at this point.
fn write_speedups(f: &mut fmt::Formatter<'_>, cases: &[PlayedCase]) -> fmt::Result {
    let mut points: BTreeMap<(&str, &str), Vec<&PlayedCase>> = BTreeMap::new();
    for case in cases {
        if let Some(figure) = &case.figure {
            points.entry((&figure.name, &figure.point)).or_default().push(case);
        }
    }
    let mut last = "";
    for ((name, point), mut cases) in points {
        if name != last {
            let header = ["alternative", "cycles", "predicted", "us", "measured"];
            let [variant, cycles, predicted, time, measured] = header;
            writeln!(f, "\n{name:32} {variant:12} {cycles:>10} {predicted:>10} {time:>10} {measured:>10}")?;
            last = name;
        }
        cases.sort_by_key(|case| case.figure.as_ref().map(|figure| (!figure.is_base, figure.variant.clone())));
        let base = cases.iter().find(|case| case.figure.as_ref().is_some_and(|figure| figure.is_base)).copied();
        for case in &cases {
            writeln!(f, "{point:32} {}", row(case, base))?;
        }
    }
    Ok(())
}

fn row(case: &PlayedCase, base: Option<&PlayedCase>) -> String {
    let ratio = |of: &dyn Fn(&PlayedCase) -> Option<f64>| {
        let (own, base) = (of(case)?, of(base?)?);
        (own > 0.0).then(|| format!("{:.2}x", base / own))
    };
    let shown = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let time = |case: &PlayedCase| case.median_nanoseconds().map(|time| time as f64);
    let variant = case.figure.as_ref().map_or("", |figure| &figure.variant);
    let mut row = String::new();
    // Writing to a `String` does not fail, so the result is ignored.
    let _ = write!(
        row,
        "{variant:12} {:>10} {:>10} {:>10} {:>10}",
        shown(case.predicted_cycles().map(|cycles| format!("{cycles:.0}"))),
        shown(ratio(&|case| case.predicted_cycles())),
        shown(case.median_nanoseconds().map(microseconds)),
        shown(ratio(&time))
    );
    if case.status != PlayedStatus::Pass {
        let _ = write!(row, "  {}", case.status);
    }
    row
}
