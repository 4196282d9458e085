//! Tests of the registry for linked and loaded plugins: callers cannot distinguish them, and precedence among plugins
//! of one architecture is as documented.

use tilewright_testkit::plugin_fixtures as fixtures;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixtures::{fixture, libraries, module, plain, scratch};
use tilewright_fixture::description;
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{FamilySpec, Layout, SampleLayoutRequest};
use tilewright_plugin::{CompileError, CompileOptions, Target};
use tilewright_plugin::{FactoryError, PluginManifest, PluginOrigin, PluginSearchPath, Registry, RegistryError};
use tilewright_target::{InstructionKind, TargetDescription};

fn linked() -> Registry {
    Registry::new()
}

fn loaded() -> Registry {
    let mut registry = Registry::new();
    registry.load(&fixture()).expect("the fixture plugin");
    registry
}

fn both() -> [Arc<dyn Target>; 2] {
    [linked(), loaded()].map(|registry| registry.create_target(&description("fixture1", "works")).expect("a target"))
}

#[test]
fn a_linked_and_a_loaded_plugin_look_the_same() {
    let (linked, loaded) = (linked(), loaded());
    let one = linked.find_server("fixture1").expect("linked in");
    let other = loaded.find_server("fixture1").expect("loaded");
    assert_eq!((one.origin, other.origin), (PluginOrigin::Linked, PluginOrigin::Named));
    assert_eq!((&one.name, &one.version, &one.architectures), (&other.name, &other.version, &other.architectures));
    let [one, other] = both();
    assert_eq!(one.description(), other.description());
    assert_eq!(one.instructions(), other.instructions());
    assert_eq!(one.families().names(), other.families().names());
    let options = CompileOptions::default();
    let code = one.compile(&module("any"), &options).expect("code");
    assert_eq!(Ok(code), other.compile(&module("any"), &options));
}

#[test]
fn layouts_cross_unchanged_and_are_cached() {
    let [one, other] = both();
    let spec = FamilySpec::new("striped");
    for shape in [[4], [64], [4]] {
        let layout = one.families().resolve(&spec, &shape, &NeutralFamilies).expect("a layout");
        assert!(matches!(layout, Layout::Distributed(_)));
        assert_eq!(Ok(layout), other.families().resolve(&spec, &shape, &NeutralFamilies));
    }
}

#[test]
fn rows_of_one_kind_are_read_without_the_table() {
    let description = description("fixture1", "works");
    let one = linked().create_target(&description).expect("a target");
    let other = loaded().create_target_without_table(&description).expect("a target");
    let kind = one.instructions()[0].kind;
    let absent = InstructionKind::Prefetch;
    assert_ne!(kind, absent);
    for target in [&one, &other] {
        assert_eq!(target.instructions_of(kind).expect("rows").as_ref(), one.instructions());
        assert!(target.instructions_of(absent).expect("rows").is_empty());
    }
    assert!(other.instructions().is_empty(), "nobody has asked for the table");
    other.read_instructions().expect("the table");
    assert_eq!(other.instructions(), one.instructions());
    assert_eq!(other.instructions_of(kind), one.instructions_of(kind));
}

#[test]
fn samples_cross_for_every_block_that_the_target_can_have() {
    let [one, other] = both();
    let description = one.description();
    for &lanes in &description.lanes.choices {
        for (warps, element_bits) in [(1, 8), (2, 16), (4, 32), (8, 64)] {
            let samples = one.families().samples(SampleLayoutRequest { lanes, warps, element_bits });
            assert_eq!(samples.len(), 1, "the linked fixture has samples");
            assert_eq!(samples, other.families().samples(SampleLayoutRequest { lanes, warps, element_bits }));
        }
    }
    let none = other.families().samples(SampleLayoutRequest { lanes: 3, warps: 1, element_bits: 8 });
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn a_family_of_a_plugin_may_derive_from_a_neutral_one() {
    let parent = FamilySpec::new("blocked")
        .with_parameter("size_per_thread", [1, 4])
        .with_parameter("threads_per_warp", [4, 8])
        .with_parameter("warps_per_cta", [4, 1])
        .with_parameter("order", [1, 0]);
    let spec = FamilySpec::new("striped").with_parent(parent);
    let [one, other] = both().map(|target| target.families().resolve(&spec, &[64, 64], &NeutralFamilies));
    assert!(one.is_ok(), "{one:?}");
    assert_eq!(one, other);
}

#[test]
fn errors_cross_with_their_kind_and_message() {
    let [one, other] = both();
    let options = CompileOptions::default();
    for kernel in ["unsupported", "invalid", "option", "backend"] {
        let error = one.compile(&module(kernel), &options).expect_err("an error");
        assert_eq!(Err(error), other.compile(&module(kernel), &options));
    }
    for parameter in ["shape", "layout", "unknown", "colour"] {
        let spec = FamilySpec::new("striped").with_parameter(parameter, 1);
        let error = one.families().resolve(&spec, &[2, 4], &NeutralFamilies).expect_err("an error");
        assert_eq!(Err(error), other.families().resolve(&spec, &[2, 4], &NeutralFamilies));
    }
    for registry in [linked(), loaded()] {
        match registry.create_target(&description("fixture1", "refused")).map(|_| ()) {
            Err(RegistryError::Target { error, .. }) => {
                assert_eq!(error, FactoryError::Description("it is refused".to_owned()));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_panic_in_a_loaded_plugin_is_an_error() {
    let registry = loaded();
    let target = registry.create_target(&description("fixture1", "works")).expect("a target");
    match target.compile(&module("panics"), &CompileOptions::default()) {
        Err(CompileError::Plugin(message)) => {
            assert!(message.contains("panicked: kernel panics"), "{message}");
            assert!(message.contains("libtilewright_fixture_plugin") && message.contains("report"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    let error = target
        .families()
        .resolve(&FamilySpec::new("striped").with_parameter("panic", 1), &[4], &NeutralFamilies)
        .expect_err("a caught panic");
    assert!(error.to_string().contains("panicked: family striped"), "{error}");
    let error = registry.create_target(&description("fixture2", "panics")).map(|_| ()).expect_err("a caught panic");
    assert!(error.to_string().contains("panicked: no such luck"), "{error}");
    assert!(target.compile(&module("any"), &CompileOptions::default()).is_ok(), "the target works on");
}

#[test]
fn a_target_is_created_once() {
    let registry = loaded();
    let one = registry.create_target(&description("fixture1", "works")).expect("a target");
    let same = registry.create_target(&description("fixture1", "works")).expect("a target");
    let other = registry.create_target(&description("fixture2", "works")).expect("a target");
    assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
}

#[test]
fn calls_from_many_threads() {
    let [_, target] = both();
    let options = CompileOptions::default();
    let expected = target.compile(&module("any"), &options);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(target.compile(&module("any"), &options), expected)));
        }
    });
}

/// Creates a directory with a copy of the C plugin and its manifest, modified by `change`; returns it as a search path.
fn installed(change: impl Fn(&mut PluginManifest)) -> (PluginSearchPath, PathBuf) {
    let manifest_file = scratch("plain.plugin.toml");
    let directory = manifest_file.parent().expect("its directory").to_owned();
    fs::copy(plain(), directory.join("libplain.so")).expect("a copy");
    let mut manifest = PluginManifest {
        name: "plain".to_owned(),
        version: "1.2.3".to_owned(),
        library: "libplain.so".into(),
        abi_major: 1,
        abi_minor: 0,
        architectures: vec!["plain1".to_owned()],
        built_with: vec!["a compiler of C".to_owned()],
        tables_in_process: true,
    };
    change(&mut manifest);
    fs::write(&manifest_file, toml::to_string(&manifest).expect("TOML")).expect("a manifest");
    (PluginSearchPath { directories: vec![directory], ..PluginSearchPath::default() }, manifest_file)
}

/// Searches for plugins and requests a target of the C plugin; returns the registry and the result.
fn found(discovery: &PluginSearchPath) -> (Registry, Result<(), String>) {
    let mut registry = Registry::new();
    registry.discover(discovery).expect("no file was named");
    let outcome =
        registry.create_target(&description("plain1", "works")).map(|_| ()).map_err(|error| error.to_string());
    (registry, outcome)
}

#[test]
fn a_manifest_is_enough_to_list_and_the_library_is_opened_on_demand() {
    let (discovery, manifest) = installed(|_| ());
    let library = manifest.with_file_name("libplain.so");
    // A library that would be rejected if it were opened.
    fs::write(&library, "not yet").expect("a file");
    let mut registry = Registry::new();
    assert_eq!(registry.discover(&discovery).expect("no file was named"), []);
    let plugin = registry.find_server("plain1").expect("listed");
    assert_eq!((plugin.origin, plugin.version.as_str()), (PluginOrigin::Discovered, "1.2.3"));
    assert_eq!(plugin.file.as_deref(), Some(fs::canonicalize(&library).expect("the library").as_path()));
    let error = registry.create_target(&description("plain1", "works")).map(|_| ()).expect_err("no library");
    assert!(error.to_string().contains("libplain.so"), "{error}");
    fs::remove_file(&library).expect("removed");
    fs::copy(plain(), &library).expect("a copy");
    assert!(registry.create_target(&description("plain1", "works")).is_ok());
}

#[test]
fn bad_manifests_are_named_with_what_to_do() {
    type Change<'a> = &'a dyn Fn(&mut PluginManifest);
    let cases: [(Change<'_>, &str); 6] = [
        (&|manifest| manifest.library = "libgone.so".into(), "libgone.so, which does not exist"),
        (&|manifest| manifest.library = "/lib/libc.so.6".into(), "relative"),
        (&|manifest| manifest.abi_major = 2, "built for version 2"),
        (&|manifest| manifest.version = "9".to_owned(), "names plain 9"),
        (&|manifest| manifest.architectures.push("plain2".to_owned()), "plain1, plain2"),
        (&|manifest| manifest.architectures.clear(), "no architectures"),
    ];
    for (change, reason) in cases {
        let (discovery, manifest) = installed(change);
        let (_, outcome) = found(&discovery);
        let error = outcome.expect_err(reason);
        assert!(error.contains(reason) && error.contains(&*manifest.to_string_lossy()), "{error}");
    }
    let (discovery, manifest) = installed(|_| ());
    fs::write(&manifest, "name = \"plain\"\nversion = 3\n").expect("a manifest");
    let error = found(&discovery).1.expect_err("wrong type");
    assert!(error.contains("line 2") && error.contains("install the plugin again"), "{error}");
}

#[test]
fn a_manifest_of_a_later_version_is_read() {
    let (discovery, manifest) = installed(|_| ());
    let text = fs::read_to_string(&manifest).expect("the manifest");
    fs::write(&manifest, format!("later = true\n{text}")).expect("a manifest");
    assert_eq!(found(&discovery).1, Ok(()));
}

#[test]
fn world_writable_files_are_rejected() {
    let (discovery, manifest) = installed(|_| ());
    for file in [manifest.with_file_name("libplain.so"), manifest] {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("permissions");
        let error = found(&discovery).1.expect_err("refused");
        assert!(error.contains("everybody may write"), "{error}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("permissions");
    }
    assert_eq!(found(&discovery).1, Ok(()));
}

#[test]
fn the_working_directory_is_never_looked_through() {
    for directory in ["", ".", "target"] {
        let discovery = PluginSearchPath { directories: vec![directory.into()], ..PluginSearchPath::default() };
        let refusals = Registry::new().discover(&discovery).expect("no file was named");
        assert!(refusals[0].reason.contains("working directory"), "{refusals:?}");
    }
}

#[test]
fn a_named_file_that_cannot_be_loaded_is_an_error() {
    let discovery = PluginSearchPath::default().with_file("/nowhere/libnone.so");
    let error = Registry::new().discover(&discovery).expect_err("an error");
    assert!(error.to_string().contains("/nowhere/libnone.so"), "{error}");
}

#[test]
fn named_comes_before_linked_comes_before_discovered() {
    let mut registry = Registry::new();
    registry
        .discover(&PluginSearchPath { directories: vec![libraries()], ..PluginSearchPath::default() })
        .expect("no file was named");
    // Other plugins of the workspace may lie in the same directory.
    let origins = |registry: &Registry| -> Vec<PluginOrigin> {
        let ours = |architecture: &String| tilewright_fixture::ARCHITECTURES.contains(&architecture.as_str());
        let plugins = registry.plugins().into_iter();
        plugins.filter(|plugin| plugin.architectures.iter().any(ours)).map(|plugin| plugin.origin).collect()
    };
    assert_eq!(origins(&registry), [PluginOrigin::Linked, PluginOrigin::Discovered]);
    assert_eq!(registry.duplicate_architectures().len(), tilewright_fixture::ARCHITECTURES.len());
    assert_eq!(registry.duplicate_architectures()[0].passed_over.origin, PluginOrigin::Discovered);
    registry.load(&fixture()).expect("the fixture plugin");
    assert_eq!(origins(&registry), [PluginOrigin::Named, PluginOrigin::Linked, PluginOrigin::Discovered]);
    assert_eq!(registry.find_server("fixture2").map(|plugin| plugin.origin), Some(PluginOrigin::Named));
}

#[test]
fn of_two_manifests_the_first_directory_wins() {
    let (first, _) = installed(|_| ());
    let (second, _) = installed(|_| ());
    let directories = [first.directories.clone(), second.directories].concat();
    let mut registry = Registry::new();
    registry.discover(&PluginSearchPath { directories, ..PluginSearchPath::default() }).expect("no file was named");
    let chosen = registry.find_server("plain1").and_then(|plugin| plugin.file.clone()).expect("a file");
    assert_eq!(chosen.parent(), Some(fs::canonicalize(&first.directories[0]).expect("the directory").as_path()));
    assert_eq!(registry.duplicate_architectures().len(), 1);
}

#[test]
fn default_search_paths_find_what_cargo_built() {
    let mut registry = Registry::new();
    registry.discover(&PluginSearchPath::default_search()).expect("no file was named");
    let discovered = registry
        .plugins()
        .into_iter()
        .find(|plugin| plugin.origin == PluginOrigin::Discovered && plugin.name == "fixture");
    let file = discovered.and_then(|plugin| plugin.file.clone()).expect("the fixture plugin's library");
    assert_eq!(file, fs::canonicalize(fixture()).expect("the library"));
}

#[test]
fn a_missing_plugin_is_reported_with_the_known_targets() {
    let elsewhere = TargetDescription { architecture: "elsewhere9".to_owned(), ..description("fixture1", "works") };
    let error = Registry::new().create_target(&elsewhere).map(|_| ()).expect_err("no plugin").to_string();
    for phrase in ["elsewhere9", "fixture1, fixture2", "TILEWRIGHT_PLUGIN_PATH"] {
        assert!(error.contains(phrase), "{error}");
    }
}

#[test]
fn a_relative_file_that_the_user_names_is_taken() {
    let here = std::env::current_dir().expect("a working directory");
    let up: PathBuf = here.components().skip(1).map(|_| Path::new("..")).collect();
    let relative = up.join(fixture().strip_prefix("/").expect("an absolute path"));
    assert!(Registry::new().load(&relative).is_ok());
}
