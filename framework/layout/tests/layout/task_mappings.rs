//! Laws of task mappings: compositions follow the definition, loops and thread-value layouts are the same mapping, and
//! layouts that are no mapping are rejected with the reason.

use proptest::prelude::*;
use tilewright_layout::cute::{IntTuple, TaskMapping, ThreadValue, crd2idx};

fn basic_mapping(rank: usize) -> impl Strategy<Value = TaskMapping> {
    (any::<bool>(), prop::collection::vec(1..4u64, rank)).prop_map(|(repeats, shape)| {
        let result = if repeats { TaskMapping::repeat(&shape) } else { TaskMapping::spatial(&shape) };
        result.expect("small")
    })
}

/// Random lists of up to three grids over one to three axes, the outermost first.
fn mappings() -> impl Strategy<Value = Vec<TaskMapping>> {
    (1..=3usize).prop_flat_map(|rank| prop::collection::vec(basic_mapping(rank), 1..=3))
}

fn composed(mappings: &[TaskMapping]) -> TaskMapping {
    let (first, rest) = mappings.split_first().expect("at least one");
    rest.iter().fold(first.clone(), |outer, inner| outer.then(inner).expect("small"))
}

fn all_tasks(mapping: &TaskMapping) -> Vec<Vec<Vec<u64>>> {
    (0..mapping.workers()).map(|worker| mapping.tasks(worker)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn compositions_are_as_defined(mappings in mappings()) {
        let (first, rest) = mappings.split_first().expect("at least one");
        let mut outer = first.clone();
        for inner in rest {
            let composition = outer.then(inner).expect("small");
            let sizes = inner.shape();
            for worker in 0..composition.workers() {
                let (over, under) = (outer.tasks(worker / inner.workers()), inner.tasks(worker % inner.workers()));
                let defined: Vec<Vec<u64>> = over.iter().flat_map(|t1| under.iter().map(|t2| {
                    (0..sizes.len()).map(|axis| t1[axis] * sizes[axis] + t2[axis]).collect()
                })).collect();
                prop_assert_eq!(composition.tasks(worker), defined);
            }
            outer = composition;
        }
    }

    #[test]
    fn each_task_is_done_once_and_loops_do_it(mappings in mappings()) {
        let mapping = composed(&mappings);
        let mut done: Vec<Vec<u64>> = all_tasks(&mapping).concat();
        done.sort();
        let count = done.len() as u64;
        done.dedup();
        prop_assert_eq!((count, done.len() as u64), (mapping.shape().iter().product::<u64>(), count));
        let loops = mapping.loops();
        for worker in 0..mapping.workers() {
            prop_assert_eq!(loops.tasks(worker), mapping.tasks(worker), "{}", loops);
        }
    }

    #[test]
    fn text_and_layouts_go_through(mappings in mappings()) {
        let mapping = composed(&mappings);
        prop_assert_eq!(mapping.to_string().parse::<TaskMapping>(), Ok(mapping.clone()));
        let layout = mapping.thread_value().expect("a layout");
        let tile = IntTuple::flat(mapping.shape());
        for (worker, tasks) in (0..).zip(all_tasks(&mapping)) {
            for (value, task) in (0..).zip(tasks) {
                let at = layout.layout().at_coordinate(&IntTuple::flat([worker, value])).expect("inside");
                prop_assert_eq!(at, crd2idx(&IntTuple::flat(task), &tile).expect("inside"));
            }
        }
        let back = TaskMapping::from_thread_value(&layout).expect("it is a mapping");
        prop_assert_eq!(all_tasks(&back), all_tasks(&mapping), "{} and {}", back, mapping);
    }

    #[test]
    fn no_text_panics(text in "[a-z(),0-9* ]{0,30}") {
        let _ = text.parse::<TaskMapping>();
    }
}

fn refused(layout: &str, tile: &str) -> String {
    let layout = ThreadValue::new(&tile.parse().expect("a tile"), layout.parse().expect("a layout")).expect("inside");
    TaskMapping::from_thread_value(&layout).expect_err("no mapping").to_string()
}

#[test]
fn layouts_that_are_no_mapping_say_why() {
    let copies = refused("((4,2),4):((1,0),4)", "(4,4)");
    assert!(copies.contains("2 threads have the same element"), "{copies}");
    // The thread's low bit is the coarser half of an axis.
    let reversed = refused("((2,2),4):((2,1),4)", "(4,4)");
    assert!(reversed.contains("threads next move by 2 along dim0, before the step 1"), "{reversed}");
    let gap = refused("(4,2):(1,8)", "(4,4)");
    assert!(gap.contains("no worker has coordinate 1 along dim1"), "{gap}");
    let uneven = refused("(3,1):(4,0)", "(6,2)");
    assert!(uneven.contains("which divides no axis"), "{uneven}");
    let twice = refused("(4,4):(1,2)", "(4,4)");
    assert!(twice.contains("several workers have coordinate 2 along dim0"), "{twice}");
}

#[test]
fn loops_are_written_as_they_are_read() {
    let mapping: TaskMapping = "spatial(2, 4) * repeat(2, 3) * spatial(5, 1)".parse().expect("a mapping");
    let text = "for i0 in 0..2:\n    for i1 in 0..3:\n        \
                task((thread / 20) * 10 + i0 * 5 + thread % 5, (thread / 5 % 4) * 3 + i1)";
    assert_eq!(mapping.loops().to_string(), text);
    for wrong in [
        "",
        "repeat",
        "repeat()",
        "repeat(2) spatial(2)",
        "swap(2)",
        "repeat((2,2))",
        "repeat(2,2) * spatial(2)",
        "repeat(0)",
    ] {
        assert!(wrong.parse::<TaskMapping>().is_err(), "{wrong}");
    }
}
