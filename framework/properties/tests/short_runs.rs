//! Tests that run every fuzz target briefly on its committed corpus and thousands of seeded mutations: nothing panics,
//! and no input exceeds its time limit.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tilewright_properties::{PROPERTIES, Property, corpus, mutation::Mutations};

/// Number of mutated inputs on which each property is checked.
const CHANGED: usize = 4000;

/// Time limit for the check of one input; even the slowest takes only some milliseconds on an idle machine.
const TIME: Duration = Duration::from_secs(20);

/// The input that is being checked, and the time at which its check started.
type Current = Arc<Mutex<(Vec<u8>, Instant)>>;

/// Checks a property on `inputs` in a thread with the default stack size; returns the number of inputs.
fn run(property: Property, inputs: impl Iterator<Item = Vec<u8>> + Send + 'static) -> usize {
    let current: Current = Arc::new(Mutex::new((Vec::new(), Instant::now())));
    let (tried, (sender, end)) = (Arc::clone(&current), mpsc::channel());
    std::thread::spawn(move || {
        let mut count = 0;
        for input in inputs {
            *tried.lock().unwrap_or_else(PoisonError::into_inner) = (input.clone(), Instant::now());
            if catch_unwind(AssertUnwindSafe(|| (property.check)(&input))).is_err() {
                let _ = sender.send(Err(input));
                return;
            }
            count += 1;
        }
        let _ = sender.send(Ok(count));
    });
    loop {
        match end.recv_timeout(Duration::from_millis(200)) {
            Ok(Ok(count)) => return count,
            Ok(Err(input)) => panic!("{} does not hold of: {}", property.name, corpus::escape_input(&input)),
            Err(RecvTimeoutError::Disconnected) => panic!("{} ended its thread", property.name),
            Err(RecvTimeoutError::Timeout) => {
                let (input, since) = &*current.lock().unwrap_or_else(PoisonError::into_inner);
                assert!(
                    since.elapsed() < TIME,
                    "{} takes over {TIME:?} for: {}",
                    property.name,
                    corpus::escape_input(input)
                );
            }
        }
    }
}

fn short_run(name: &str) {
    let property = *PROPERTIES.iter().find(|property| property.name == name).expect("a property");
    let kept = corpus::read_corpus(name).expect("the committed corpus");
    assert!(kept.len() >= 5, "{name} keeps {} inputs", kept.len());
    let (count, mut changes) = (kept.len(), Mutations::from_seed(9));
    let changed = kept.clone();
    assert_eq!(run(property, kept.into_iter()), count);
    assert_eq!(run(property, (0..CHANGED).map(move |_| changes.next_input(&changed))), CHANGED);
}

macro_rules! short_runs {
    ($($name:ident)*) => {
        $(#[test] fn $name() { short_run(stringify!($name)); })*

        #[test]
        fn every_fuzz_target_has_a_property_and_a_short_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
            let files = std::fs::read_dir(folder).expect("the fuzz targets").map(|file| file.expect("a file").path());
            let targets: BTreeSet<String> =
                files.filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned())).collect();
            assert_eq!(targets, PROPERTIES.iter().map(|property| property.name.to_owned()).collect());
            assert_eq!(targets, [$(stringify!($name).to_owned()),*].into());
        }
    };
}

short_runs! {
    cute_text
    kernel_bytes
    kernel_text
    layout_json
    layout_text
    plugin_manifest
    plugin_messages
    target_toml
    tile_text
}
