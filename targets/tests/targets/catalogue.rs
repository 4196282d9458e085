//! Tests of the built-in target files: they can be read, they have evidence for each value, and users can add targets.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use tilewright_target::{Direction, Evidence, TargetCatalogueError, TargetDescription};
use tilewright_targets::{SEARCH_PATH, TARGET_FILES, read_catalogue_with_search_path};

/// Creates an empty directory for one test.
fn directory(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the test directory can be made");
    directory
}

fn text(name: &str) -> &'static str {
    let file = format!("{name}.toml");
    TARGET_FILES.iter().find(|(listed, _)| *listed == file).expect("the file is built in").1
}

fn target(name: &str) -> TargetDescription {
    let catalogue = read_catalogue_with_search_path(None).expect("the built-in files read");
    catalogue.get(name).expect("the target is built in").clone()
}

#[test]
fn these_gpu_models_are_built_in() {
    let catalogue = read_catalogue_with_search_path(None).expect("the built-in files read");
    let built_in_targets: Vec<_> =
        catalogue.iter().map(|target| (target.name.as_str(), target.architecture.as_str())).collect();
    let expected = [
        ("a100", "sm_80"),
        ("a770", "dg2"),
        ("b200", "sm_100a"),
        ("b580", "xe2"),
        ("gh200", "sm_90a"),
        ("h100", "sm_90a"),
        ("h200", "sm_90a"),
        ("max1550", "pvc"),
        ("mi100", "gfx908"),
        ("mi250", "gfx90a"),
        ("mi300x", "gfx942"),
        ("mi355x", "gfx950"),
        ("rtx4090", "sm_89"),
        ("rtx5090", "sm_120a"),
        ("rx7900xtx", "gfx1100"),
        ("rx9070xt", "gfx1201"),
    ];
    assert_eq!(built_in_targets, expected);
}

#[test]
fn the_list_is_the_folder() {
    let folder = fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the folder is there");
    let mut names: Vec<_> = folder.map(|entry| entry.expect("an entry").file_name()).collect();
    names.retain(|name| name.to_string_lossy().ends_with(".toml") && name != "Cargo.toml");
    names.sort();
    assert_eq!(TARGET_FILES.iter().map(|(name, _)| OsString::from(name)).collect::<Vec<_>>(), names);
}

#[test]
fn a_file_is_called_after_its_target() {
    for (file, text) in TARGET_FILES {
        let target = TargetDescription::from_toml(file, text).expect("the file reads");
        assert_eq!(format!("{}.toml", target.name), *file);
    }
}

#[test]
fn assumed_values_are_marked_and_every_source_is_named() {
    // Bank phases (lanes served together) that no known document or measurement gives.
    for (name, direction, bits) in [
        ("mi250", Direction::Load, 128),
        ("mi300x", Direction::Load, 64),
        ("mi100", Direction::Load, 128),
        ("mi355x", Direction::Load, 32),
        ("rx7900xtx", Direction::Load, 128),
        ("rx9070xt", Direction::Store, 64),
        ("max1550", Direction::Store, 32),
        ("a100", Direction::Load, 128),
        ("b200", Direction::Load, 128),
        ("a770", Direction::Store, 32),
        ("b580", Direction::Store, 32),
    ] {
        let target = target(name);
        assert_eq!(target.find_bank_row(direction, bits).expect("a row").evidence, Evidence::Assumed, "{name}");
    }
    // Bank phases that were measured.
    for (direction, bits) in [(Direction::Load, 64), (Direction::Load, 128), (Direction::Store, 64)] {
        for name in ["mi355x", "h200"] {
            assert_eq!(target(name).find_bank_row(direction, bits).expect("a row").evidence, Evidence::Measured);
        }
    }
    for (file, _) in TARGET_FILES {
        let target = target(file.trim_end_matches(".toml"));
        let costs = &target.costs;
        let tables = [&target.lanes.source, &target.limits.source, &target.shared.source, &target.global.source];
        let costs = [&costs.shuffle, &costs.permute, &costs.select, &costs.block_barrier, &costs.warp_barrier];
        let wavefronts = [&target.costs.shared_store_wavefront, &target.costs.shared_load_wavefront];
        let costs = costs.into_iter().chain(wavefronts).map(|cost| &cost.source);
        let sources = tables.into_iter().chain(costs);
        let sources = sources.chain(target.shared.banks.iter().map(|row| &row.source));
        for source in sources.chain(target.shuffles.iter().map(|row| &row.source)) {
            assert!(source.split_whitespace().count() >= 3, "{file}: {source:?} names no source");
        }
    }
}

/// Values of GPU models differ as the vendors' documents say.
#[test]
fn gpu_models_differ_as_documented() {
    // Bytes of shared memory that one block can have.
    for (name, kib) in [
        ("a100", 163),
        ("rtx4090", 99),
        ("rtx5090", 99),
        ("h100", 227),
        ("gh200", 227),
        ("h200", 227),
        ("b200", 227),
        ("mi100", 64),
        ("mi250", 64),
        ("mi300x", 64),
        ("mi355x", 160),
        ("rx7900xtx", 64),
        ("rx9070xt", 64),
        ("max1550", 128),
        ("a770", 64),
        ("b580", 128),
    ] {
        assert_eq!(target(name).shared.bytes, kib * 1024, "{name}");
    }
    for (name, default, choices) in [
        ("a100", 32, vec![32]),
        ("b200", 32, vec![32]),
        ("mi100", 64, vec![64]),
        ("mi250", 64, vec![64]),
        ("mi300x", 64, vec![64]),
        ("mi355x", 64, vec![64]),
        ("rx7900xtx", 32, vec![32, 64]),
        ("rx9070xt", 32, vec![32, 64]),
        ("max1550", 16, vec![16, 32]),
        ("a770", 8, vec![8, 16, 32]),
        ("b580", 16, vec![16, 32]),
    ] {
        assert_eq!((target(name).lanes.default, target(name).lanes.choices), (default, choices), "{name}");
    }
    // Granularity of shared-memory allocations in bytes.
    for (name, granularity) in
        [("mi100", 512), ("mi300x", 512), ("mi355x", 1280), ("rx7900xtx", 1024), ("rx9070xt", 1024)]
    {
        assert_eq!(target(name).shared.granularity_bytes, granularity, "{name}");
    }
    for name in ["mi100", "mi250", "mi300x", "mi355x", "rx7900xtx", "rx9070xt"] {
        assert!(target(name).shared.warp_ordered, "{name}");
    }
    assert!(!target("h100").shared.warp_ordered && !target("max1550").shared.warp_ordered);
    for (name, blocks) in [("a100", 1), ("rtx4090", 1), ("h100", 8), ("b200", 8), ("rtx5090", 8), ("a770", 1)] {
        assert_eq!(target(name).limits.blocks_per_cluster, blocks, "{name}");
    }
    for (file, _) in TARGET_FILES {
        let target = target(file.trim_end_matches(".toml"));
        let clusters = target.limits.blocks_per_cluster > 1;
        assert_eq!(target.costs.cluster_barrier.is_some(), clusters, "{file}: barriers of clusters cost something");
    }
    assert_eq!((target("mi250").global.transaction_bytes, target("mi300x").global.transaction_bytes), (64, 128));
    assert_ne!(
        target("mi250").find_bank_row(Direction::Load, 128),
        target("mi250").find_bank_row(Direction::Store, 128)
    );
}

#[test]
fn every_target_shuffles_words_between_lanes() {
    for (file, _) in TARGET_FILES {
        assert_eq!(target(file.trim_end_matches(".toml")).index_shuffle_bits(), Some(32), "{file}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_and_all() {
    let catalogue = read_catalogue_with_search_path(None).expect("the built-in files read");
    let error = catalogue.get("mi300z").expect_err("there is none").to_string();
    let known: Vec<_> = TARGET_FILES.iter().map(|(file, _)| file.trim_end_matches(".toml")).collect();
    let known = known.join(", ");
    assert_eq!(error, format!("unknown target `mi300z` (did you mean `mi300x`?); known are {known}"));
    let error = catalogue.get("abacus").expect_err("there is none").to_string();
    assert_eq!(error, format!("unknown target `abacus`; known are {known}"));
}

#[test]
fn users_add_targets_in_directories_and_later_ones_win() {
    let (first, second) = (directory("first"), directory("second"));
    let added = text("mi300x").replace("name = \"mi300x\"", "name = \"mi308x\"");
    fs::write(first.join("mi308x.toml"), &added).expect("the file can be written");
    fs::write(first.join("notes.txt"), "no target").expect("the file can be written");
    let replaced = text("a100").replace("product = \"NVIDIA A100\"", "product = \"ours\"");
    fs::write(second.join("a100.toml"), &replaced).expect("the file can be written");
    let path = std::env::join_paths([first, PathBuf::new(), second]).expect("a path list");
    let catalogue = read_catalogue_with_search_path(Some(&path)).expect("all files read");
    assert_eq!(catalogue.iter().count(), TARGET_FILES.len() + 1);
    assert_eq!(catalogue.get("mi308x").expect("added").architecture, "gfx942");
    assert_eq!(catalogue.get("a100").expect("replaced").gpu_model, "ours");
}

#[test]
fn a_missing_directory_is_an_error_that_names_it_and_the_variable() {
    let missing = directory("missing").join("nowhere");
    let error = read_catalogue_with_search_path(Some(missing.as_os_str())).expect_err("there is no such directory");
    assert!(matches!(error, TargetCatalogueError::SearchPath { .. }));
    let message = error.to_string();
    assert!(message.starts_with(&format!("in {SEARCH_PATH}: cannot read {}: ", missing.display())), "{message}");
}

#[test]
fn a_copied_file_whose_name_was_not_changed_is_an_error_there() {
    let directory = directory("copied");
    fs::write(directory.join("mi300z.toml"), text("h100")).expect("the file can be written");
    let error = read_catalogue_with_search_path(Some(directory.as_os_str())).expect_err("the name is another's");
    let toml_file = directory.join("mi300z.toml");
    let rule = "`name`: the file mi300z.toml must describe `mi300z`; change this name or the file's";
    assert_eq!(error.to_string(), format!("in {SEARCH_PATH}: {}:3:8: {rule}", toml_file.display()));
}

#[test]
fn names_of_other_compilers_are_aliases() {
    let catalogue = read_catalogue_with_search_path(None).expect("the built-in files read");
    for (alias, architecture) in [("cuda:80", "sm_80"), ("cuda:90", "sm_90a"), ("hip:gfx90a", "gfx90a")] {
        assert_eq!(catalogue.get(alias).expect(alias).architecture, architecture);
    }
    // A target's own name has precedence over aliases.
    assert_eq!(catalogue.get("h200").expect("a target").name, "h200");
}

#[test]
fn functions_of_the_hardware_are_functions_of_the_kernel_ir() {
    use tilewright_kernel::{Binary, Cast, MathFunction};
    let catalogue = read_catalogue_with_search_path(None).expect("the built-in files read");
    for target in catalogue.iter() {
        for native in &target.functions {
            let cast = Cast::ALL.iter().find(|known| known.name() == native.function);
            let is_function = MathFunction::ALL.iter().any(|known| known.name() == native.function);
            let is_product = (native.function.as_str(), native.element.as_str()) == (Binary::FMul.name(), "bf16");
            let is_minimum = native.function == Binary::FMinimum.name() && ["f16", "bf16"].contains(&&*native.element);
            assert!(is_function || is_product || is_minimum || cast.is_some(), "{}: {native:?}", target.name);
            let ulps = match cast {
                Some(cast) if cast.extended_format().is_some() => 0.0..=0.0,
                Some(Cast::RoundZ) => 1.0..=1.0,
                Some(_) => 0.5..=0.5,
                None if is_product => 0.5..=0.5,
                None if is_minimum => 0.0..=0.0,
                None => f64::MIN_POSITIVE..=4.0,
            };
            assert!(ulps.contains(&native.ulps), "{}: {native:?}", target.name);
            assert_eq!(target.find_native_function(&native.function, &native.element), Some(native));
        }
        assert!(
            target.find_native_function("exp2", "f32").is_some()
                && target.find_native_function("exp2", "f64").is_none(),
            "{}",
            target.name
        );
    }
}
