//! Compares the plans of dots that layout assignment lists as alternatives with the same plans stated by the program.

use std::path::Path;

use crate::prelude::*;
use tilewright_assign::FunctionReport;
use tilewright_assign::synthesis::predict_launch_time;

/// The share of the predicted time that an alternative may be faster, by which plans count as equally fast.
const TOLERANCE: f64 = 0.011;

/// A compiled program with the report of its function and its predicted cycles.
struct Predicted {
    report: FunctionReport,
    cycles: f64,
}

/// States each alternative plan of a dot in the text of the program, for all programs of the suite with dots outside of
/// explicit memory. Checks that each of them has the listed plan, that the time of the program that was taken is the
/// simulated time of its loops, and that no stated plan is faster by more than a hundredth. Returns the number of
/// compared plans.
pub fn check_dot_alternatives(target: &dyn Target) -> usize {
    let mut compared = 0;
    for name in ["attention", "dot_bytes", "dot_loop", "dot_masked", "dot_split"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../conformance/kernels/{name}.ttir"));
        let text = std::fs::read_to_string(file).expect("a program of the suite");
        let taken = predict(target, &text).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(prediction) = &taken.report.prediction {
            assert_eq!(prediction.cycles, taken.cycles, "{name}: {}", taken.report);
        }
        for alternative in taken.report.alternatives.iter().filter(|alternative| alternative.prediction.is_some()) {
            let dots: Vec<&String> = alternative.choices.iter().filter(|choice| choice.starts_with("mma ")).collect();
            if dots.is_empty() {
                continue;
            }
            let pinned = dots.iter().fold(text.clone(), |text, dot| state_plan(&text, dot));
            let pinned = predict(target, &pinned).unwrap_or_else(|error| panic!("{name} with {dots:?}: {error}"));
            let plans: Vec<String> = pinned.report.dots.iter().map(ToString::to_string).collect();
            assert!(dots.iter().all(|dot| plans.contains(dot)), "{name}: {plans:?} instead of {dots:?}");
            assert!(
                taken.cycles * (1.0 - TOLERANCE) <= pinned.cycles,
                "{name}: {} cycles with {dots:?}",
                pinned.cycles
            );
            compared += 1;
        }
    }
    compared
}

/// Compiles a program, and predicts its time from its pipelined loops.
fn predict(target: &dyn Target, text: &str) -> Result<Predicted, String> {
    let mut found = None;
    let kernel = compiler(target).compile_kernel(text, &ProgramOptions::default().with_warps(4), &mut |stage| {
        if let CompilationStageOutput::Layouts(assigned) = stage {
            found = Some(assigned.clone());
        }
    });
    kernel.map_err(|error| error.to_string())?;
    let assigned = found.ok_or("no layouts were assigned")?;
    let families = FamilyProviders::new(vec![&NeutralFamilies, target.families()]);
    let lanes = target.description().lanes.default;
    let config = LaunchConfig { context: build_plan_context(target), families: &families, lanes, warps: 4 };
    let report = assigned.report.functions[0].clone();
    let predicted = predict_launch_time(&assigned.module.functions[0], None, None, &config);
    Ok(Predicted { report, cycles: predicted.map_err(|error| error.to_string())?.cycles })
}

/// Returns the program with the plan of a dot as attributes; `plan` is the plan as reports print it.
fn state_plan(text: &str, plan: &str) -> String {
    let (value, choices) = plan.strip_prefix("mma ").and_then(|plan| plan.split_once(": ")).expect("a plan");
    let mut parts = choices.split(", ");
    let mut attributes = vec![format!("tw.instruction = \"{}\"", parts.next().expect("an instruction"))];
    for part in parts {
        let number = part.split(' ').next().unwrap_or_default();
        attributes.extend(match part.split_once(' ').unwrap_or_default().1 {
            "contiguous K elements per lane" => Some(format!("tw.kWidth = {number} : i32")),
            "contiguous columns per lane" => Some(format!("tw.columnsPerLane = {number} : i32")),
            "columns per warp" => Some("tw.contiguousWarpColumns".to_owned()),
            "and B swapped" => Some("tw.swapAB".to_owned()),
            _ if part.ends_with(" warps") => {
                Some(format!("tw.warpsAlong = array<i64: {}>", part.trim_end_matches(" warps").replace(" x ", ", ")))
            }
            _ => None,
        });
    }
    let attributes = attributes.join(", ");
    let pin = |line: &str| match line.trim_start().starts_with(&format!("{value} = tt.dot ")) {
        true => match (line.split_once('{'), line.split_once(" : ")) {
            (Some((before, after)), _) => format!("{before}{{{attributes}, {after}\n"),
            (None, Some((before, after))) => format!("{before} {{{attributes}}} : {after}\n"),
            _ => format!("{line}\n"),
        },
        false => format!("{line}\n"),
    };
    text.lines().map(pin).collect()
}
