//! Reports a run as an HTML page: one file without references to other files.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::DateTime;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use tilewright_layout::Layout;
use tilewright_picture::{svg, view};

use super::{Report, Tally, reasons};
use crate::{CaseResult, EvidenceLevel, RunMetadata, Status};

/// Max number of failures with pictures of their layouts, so that the page stays small; further failures have text
/// only.
const DRAWN: usize = 50;
/// Log2 of the max number of positions of a layout that is drawn, so that the page opens fast.
const DRAWN_BITS: u32 = 12;

const STYLE: &str = "
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #222; }
h1, h2, h3 { line-height: 1.2; }
table { border-collapse: collapse; margin: 0.8rem 0 1.2rem; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
td.text { text-align: left; }
pre { background: #f6f6f4; padding: 0.6rem 0.8rem; overflow-x: auto; white-space: pre-wrap; }
details { margin: 0.5rem 0; }
summary { cursor: pointer; }
.pass, .quality { color: #1a7f37; }
.fail, .crash, .timeout, .xpass { color: #b3261e; font-weight: 600; }
.unsupported, .skip, .xfail, .flake { color: #4a5568; }
.zero { color: #bbb; }
figure { margin: 0.8rem 0; overflow-x: auto; }
figcaption { font-size: 13px; color: #555; }
svg { max-width: 100%; height: auto; }
";

/// Returns the text of the HTML page; `repro` formats the command that runs a case again.
pub(crate) fn html(report: &Report, environments: &[RunMetadata], repro: impl Fn(&CaseResult) -> String) -> String {
    let targets: Vec<_> = report.targets.keys().map(String::as_str).collect();
    let title = format!("Conformance of {}", targets.join(", "));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } style { (PreEscaped(STYLE)) } }
            body {
                h1 { (title) }
                p { (verdict(report)) }
                (environment(environments))
                @for (target, tally) in &report.targets {
                    h2 { (target) }
                    (counts(tally))
                    (levels(tally))
                    (reason_list(tally))
                }
                (failures(report, repro))
                (slowest(report))
            }
        }
    };
    page.into_string()
}

fn verdict(report: &Report) -> Markup {
    let ran = report.results.len();
    let failed = report.results.iter().filter(|result| result.outcome.status.is_failure()).count();
    html! {
        @if failed == 0 { span.pass { (ran) " cases ran, none failed." } }
        @else { span.fail { (failed) " of " (ran) " cases failed." } }
        @if report.count_not_run() > 0 { " " span.fail { (report.count_not_run()) " cases were chosen and not run." } }
        @for error in &report.errors { br; span.crash { "harness error: " (error) } }
    }
}

fn environment(environments: &[RunMetadata]) -> Markup {
    html! {
        h2 { "Where and how" }
        table {
            tr { th { "began" } th { "suite" } th { "host" } th { "target" } th { "plugin" } th { "built with" } th { "device" } th { "part" } }
            @for environment in environments {
                @for tested in &environment.targets {
                    tr {
                        td { (date(environment.started)) }
                        td { (environment.suite) }
                        td { (environment.host.system) " " (environment.host.architecture) ", " (environment.host.processors) " processors" }
                        td { (tested.name) " (" (tested.architecture) ")" }
                        td { @if let Some(plugin) = &tested.plugin { (plugin) } @else { "linked" } }
                        td { (tested.plugin.as_ref().map(|plugin| plugin.built_with.join(", ")).unwrap_or_default()) }
                        td { (tested.device.as_deref().unwrap_or("none")) }
                        td { @if let Some(shard) = environment.shard { (shard) } @else { "all" } }
                    }
                }
            }
        }
    }
}

fn counts(tally: &Tally) -> Markup {
    let row = |name: &str, counts: &BTreeMap<Status, usize>| {
        html! {
            tr {
                td { (name) }
                @for status in Status::ALL {
                    @let count = counts.get(&status).copied().unwrap_or(0);
                    td class=(if count == 0 { "zero" } else { status.name() }) { (count) }
                }
            }
        }
    };
    html! {
        table {
            tr { th { "group" } @for status in Status::ALL { th { (status) } } }
            @for (group, counts) in &tally.groups { (row(group, counts)) }
            @if tally.groups.len() > 1 { (row("all", &tally.statuses)) }
        }
    }
}

fn levels(tally: &Tally) -> Markup {
    html! {
        p { "Right, by the level at which it was shown:" }
        table {
            tr { th { "group" } @for level in EvidenceLevel::ALL { th { (level) } } }
            @for (group, counts) in &tally.group_levels {
                tr {
                    td { (group) }
                    @for level in EvidenceLevel::ALL {
                        @let count = counts.get(&level).copied().unwrap_or(0);
                        td class=(if count == 0 { "zero" } else { "pass" }) { (count) }
                    }
                }
            }
        }
    }
}

fn reason_list(tally: &Tally) -> Markup {
    html! {
        @for reason in reasons::reasons(tally) {
            details {
                summary { span class=(reason.status.name()) { (reason.status) } " (" (reason.names.len()) "): " (reason.text) }
                pre { (reason.names.join("\n")) }
            }
        }
    }
}

fn failures(report: &Report, repro: impl Fn(&CaseResult) -> String) -> Markup {
    let failed: Vec<_> = report.results.iter().filter(|result| result.outcome.status.is_failure()).collect();
    html! {
        @if !failed.is_empty() { h2 { "Failures" } }
        @for (number, result) in failed.into_iter().enumerate() {
            h3 { span class=(result.outcome.status.name()) { (result.outcome.status) } " " (result.target) " " (result.name) }
            pre { (result.outcome.detail) "\nrerun: " (repro(result)) }
            @if number < DRAWN { (pictures(result)) }
        }
    }
}

/// Returns pictures of the layouts that a failed case requested, with text for layouts that are too large to draw.
fn pictures(result: &CaseResult) -> Markup {
    html! {
        @for (caption, layout) in &result.outcome.layouts {
            figure {
                figcaption { (caption) }
                @match drawn(layout) {
                    Some(picture) => (PreEscaped(picture)),
                    None => pre { (layout.linear()) },
                }
            }
        }
    }
}

fn drawn(layout: &Layout) -> Option<String> {
    let positions = layout.linear().ins().total_bits();
    let options = view::LayoutDrawingOptions::default();
    let picture = (positions <= DRAWN_BITS).then(|| view::draw_layout("", layout, &options).ok())??;
    Some(svg::render_svg(&picture))
}

fn slowest(report: &Report) -> Markup {
    html! {
        h2 { "Slowest cases" }
        table {
            tr { th { "case" } th { "seconds" } }
            @for result in report.slowest(20, Duration::ZERO) {
                tr { td { (result.target) " " (result.name) } td { (format!("{:.3}", result.outcome.duration.as_secs_f64())) } }
            }
        }
    }
}

/// Formats a time, given in seconds since 1970, as a date.
fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    time.map_or_else(|| seconds.to_string(), |time| time.format("%Y-%m-%d %H:%M UTC").to_string())
}
