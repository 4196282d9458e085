//! Executes the code of this plugin: conversions between the layouts of `oracle/conversions.jsonl`. Every register must
//! hold the element of its layout, and executed counts must equal the plan's.

use crate::prelude::*;
use crate::virtual_device::bench::device;
use serde_json::Value;
use tilewright_plan::movement;

fn layout(json: &Value) -> LinearLayout {
    let layout = &json["layout"];
    let named = |pair: &Value| (Dim::named(pair[0].as_str().unwrap()), pair[1].as_u64().unwrap());
    let outs: Vec<_> = layout["out_dims"].as_array().unwrap().iter().map(named).collect();
    let bases = layout["in_dims"].as_array().unwrap().iter().map(|pair| {
        let name = pair[0].as_str().unwrap();
        let columns = layout["bases"][name].as_array().unwrap();
        let column = |column: &Value| column.as_array().unwrap().iter().map(|at| at.as_u64().unwrap()).collect();
        (Dim::named(name), columns.iter().map(column).collect::<Vec<Vec<u64>>>())
    });
    LinearLayout::from_bases(&bases.collect::<Vec<_>>(), &outs).unwrap()
}

/// Max operations of a tested kernel; the code generator takes minutes for larger kernels.
const MOST_OPERATIONS: usize = 2000;

/// Returns the counts that do not depend on how the code generator writes predicates and folds moves.
fn compared(counts: &Counts) -> [u64; 7] {
    [
        counts.shuffles,
        counts.matrix_stores,
        counts.matrix_loads,
        counts.wavefronts_stored,
        counts.wavefronts_loaded,
        counts.barriers,
        counts.warp_barriers,
    ]
}

#[test]
fn conversions_are_right_and_as_planned() {
    check_conversions_are_right_and_as_planned(Answers::Sample);
}

pub fn check_conversions_are_right_and_as_planned(answers: Answers) {
    let sample = include_str!("../../../../testkit/data/conversions.jsonl");
    let target = target("a100");
    let context = build_plan_context(&target);
    let (mut shown, mut large) = (0, 0);
    for row in answers.rows(sample, "oracle/conversions.jsonl") {
        let name = row["id"].as_str().unwrap();
        let bits = row["element_bits"].as_u64().unwrap() as u32;
        let (src, dst) = (layout(&row["src"]), layout(&row["dst"]));
        if src.in_bits(Dim::BLOCK) > 0 || src.in_bits(Dim::LANE) != 5 {
            // Clusters, and warps of other sizes, belong to other targets.
            continue;
        }
        let plan = match movement::plan_conversion(&src, &dst, bits, context) {
            Ok(plan) => plan,
            Err(MovementError::Impossible { .. }) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let kernel = build_conversion_kernel("convert", [&src, &dst], bits, &plan, context).unwrap();
        if kernel.statements().len() > MOST_OPERATIONS {
            large += 1;
            continue;
        }
        let mut device = device();
        build_conversion_case([&src, &dst], bits, &plan, context)
            .and_then(|case| check_on_device(&case, &target, &mut device))
            .unwrap_or_else(|wrong| panic!("{name}, path {}: {wrong}", plan.path));
        let executed = &device.report().counts;
        assert_eq!(compared(executed), compared(&plan.stats.counts), "{name}, path {}: {executed:?}", plan.path);
        shown += 1;
    }
    eprintln!("{shown} conversions were shown, {large} have more than {MOST_OPERATIONS} operations");
    assert!(shown > 20, "{shown} conversions were shown");
}
