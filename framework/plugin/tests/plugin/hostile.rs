//! Tests that libraries that are no plugins, or faulty ones, can be loaded into this process: each gives an error with
//! the file's name and a remedy, and this process survives.

use tilewright_testkit::plugin_fixtures as fixtures;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use fixtures::{c_library, fixture, hostile, module, plain, plain_of_1_0, scratch};
use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{FamilyError, FamilySpec};
use tilewright_plugin::{CodeFormat, CompileError, CompileOptions, Target};
use tilewright_plugin::{LoadError, Registry, RegistryError};
use tilewright_target::TargetDescription;

fn description(architecture: &str) -> TargetDescription {
    let text = include_str!("../fixtures/targets/src/fixture.toml").replace("ARCHITECTURE", architecture);
    TargetDescription::from_toml("fixture.toml", &text).expect("the fixture's description")
}

/// Requests a target of the test plugin in Rust; `gpu_model` selects the plugin's wrong answers.
fn lying(gpu_model: &str) -> Result<Arc<dyn Target>, RegistryError> {
    let text = include_str!("../fixtures/targets/src/fixture.toml").replace("ARCHITECTURE", "fixture1");
    let text = text.replace("PRODUCT", gpu_model);
    let mut registry = Registry::new();
    registry.load(&fixture()).expect("a plugin that loads");
    registry.create_target(&TargetDescription::from_toml("fixture.toml", &text).expect("the fixture's description"))
}

fn refused(file: &Path) -> LoadError {
    let error = Registry::new().load(file).cloned().expect_err("a refusal");
    let text = error.to_string();
    let name = file.file_name().expect("a file name").to_string_lossy().into_owned();
    assert!(text.contains(&name), "the file is named: {text}");
    assert!(["install", "report", "chmod", "name "].iter().any(|remedy| text.contains(remedy)), "what to do: {text}");
    error
}

/// Requests a target from the plugin `file`, which must load.
fn target(file: &Path, architecture: &str) -> Result<Arc<dyn Target>, RegistryError> {
    let mut registry = Registry::new();
    registry.load(file).expect("a plugin that loads");
    registry.create_target(&description(architecture))
}

#[test]
fn a_missing_file() {
    assert!(matches!(refused(Path::new("/nowhere/libnone.so")), LoadError::NotFound { .. }));
}

#[test]
fn a_directory() {
    assert!(matches!(refused(Path::new("/tmp")), LoadError::NotALibrary { .. }));
}

#[test]
fn garbage_bytes() {
    let file = scratch("libgarbage.so");
    fs::write(&file, b"no library at all").expect("a file");
    assert!(matches!(refused(&file), LoadError::NotALibrary { .. }));
    fs::write(&file, b"").expect("a file");
    assert!(matches!(refused(&file), LoadError::NotALibrary { .. }));
    let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
    elf.extend([0xff; 4096]);
    fs::write(&file, &elf).expect("a file");
    assert!(matches!(refused(&file), LoadError::NotALibrary { .. }));
}

#[test]
fn a_library_that_was_cut_off_anywhere() {
    let full_file = fs::read(plain()).expect("the plugin");
    let file = scratch("libcut.so");
    for length in (0..32).map(|length_step| full_file.len() * length_step / 32).chain([full_file.len() - 1]) {
        fs::write(&file, &full_file[..length]).expect("a file");
        assert!(matches!(refused(&file), LoadError::NotALibrary { .. }), "cut to {length} of {}", full_file.len());
    }
}

#[test]
fn a_world_writable_library_is_rejected() {
    let file = plain();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o777)).expect("permissions");
    assert!(matches!(refused(&file), LoadError::WorldWritable { .. }));
}

#[test]
fn a_library_without_the_entry_symbol() {
    let file = c_library("places.c", &["-Dmain=not_main"]);
    assert!(matches!(refused(&file), LoadError::NoEntry { .. }));
}

#[test]
fn another_major_version() {
    assert!(matches!(refused(&hostile("WRONG_MAJOR")), LoadError::Version { found: None, .. }));
    assert!(matches!(refused(&hostile("OTHER_MAJOR")), LoadError::Version { found: Some(7), .. }));
}

#[test]
fn a_table_that_breaks_the_rules() {
    for (case, reason) in [
        ("TRUNCATED_TABLE", "cut off"),
        ("TINY_TABLE", "cut off"),
        ("NULL_SLOT", "slot `compile` is null"),
        ("MISALIGNED_TABLE", "aligned"),
        ("NAMELESS", "no targets are registered"),
        ("BAD_NAME", "its name is not UTF-8"),
        ("ENDLESS", "architectures without end"),
    ] {
        let error = refused(&hostile(case));
        assert!(matches!(error, LoadError::Broken { .. }), "{case}: {error}");
        assert!(error.to_string().contains(reason), "{case}: {error}");
    }
}

#[test]
fn a_later_minor_version_is_served() {
    let target = target(&hostile("NEWER_MINOR"), "hostile1").expect("a target");
    assert_eq!(
        target.compile(&module("any"), &CompileOptions::default()).map(|artifact| artifact.payloads),
        Ok(vec![])
    );
}

#[test]
fn neither_a_target_nor_an_error() {
    let error = target(&hostile("NOTHING_MADE"), "hostile1").err().expect("an error").to_string();
    assert!(error.contains("libplugin.so") && error.contains("neither a target nor an error"), "{error}");
}

#[test]
fn lies_in_answers() {
    for (case, reason) in [
        ("NO_BLOB", "neither an answer nor an error"),
        ("BAD_CBOR", "cannot be read"),
        ("DEEP_CBOR", "cannot be read"),
        ("LONG_CBOR", "cannot be read"),
        ("LATER_WIRE", "version 9"),
        ("NULL_BYTES", "null pointer"),
        ("HUGE_LENGTH", "at most"),
        ("UNKNOWN_CODE", "a reason of a later version"),
    ] {
        let target = target(&hostile(case), "hostile1").expect("a target");
        match target.compile(&module("any"), &CompileOptions::default()) {
            Err(CompileError::Plugin(message)) => {
                assert!(message.contains("libplugin.so") && message.contains(reason), "{case}: {message}");
            }
            other => panic!("{case}: {other:?}"),
        }
    }
}

#[test]
fn lies_about_instructions() {
    assert!(lying("honest").is_ok());
    for (gpu_model, reason) in [
        ("twice", "are called `fixture.move`"),
        ("nameless", "without a name"),
        ("endless", "takes Some(inf) cycles"),
        ("backwards", "takes Some(-1.0) cycles"),
        ("beyond", "operand `d` uses 4096 lanes"),
        ("wide", "have 200 bits"),
    ] {
        let error = lying(gpu_model).err().unwrap_or_else(|| panic!("{gpu_model} is believed")).to_string();
        let named = error.contains("tilewright_fixture_plugin") && error.contains("report this");
        assert!(named && error.contains(reason), "{gpu_model}: {error}");
    }
}

#[test]
fn lies_about_layouts() {
    let target = lying("honest").expect("a target");
    let resolve = |spec: FamilySpec, shape: &[u64]| target.families().resolve(&spec, shape, &NeutralFamilies);
    assert!(resolve(FamilySpec::new("striped"), &[32]).is_ok());
    for (spec, shape, reason) in [
        (FamilySpec::new("striped").with_parameter("larger", 1), &[32][..], "(dim0: 2^6), expected one of shape [32]"),
        (FamilySpec::new("striped"), &[32, 2], "(dim0: 2^5), expected one of shape [32, 2]"),
    ] {
        match resolve(spec, shape) {
            Err(FamilyError::Plugin(message)) => {
                assert!(message.contains("tilewright_fixture_plugin") && message.contains(reason), "{message}");
            }
            other => panic!("{reason}: {other:?}"),
        }
    }
}

#[test]
fn an_error_without_end_has_an_end() {
    let target = target(&hostile("ENDLESS_ERROR"), "hostile1").expect("a target");
    match target.compile(&module("any"), &CompileOptions::default()) {
        Err(CompileError::Backend(message)) => assert!(message.len() < 1 << 20),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plugin_in_plain_c_is_a_plugin() {
    is_the_plain_plugin(&plain());
}

/// A plugin that was built for version 1.0 of the interface still loads.
#[test]
fn a_plugin_of_version_1_0_is_a_plugin() {
    is_the_plain_plugin(&plain_of_1_0());
}

fn is_the_plain_plugin(file: &Path) {
    let mut registry = Registry::new();
    let plugin = registry.load(file).expect("a plugin").clone();
    assert_eq!((plugin.name.as_str(), plugin.version.as_str()), ("plain", "1.2.3"));
    assert_eq!(plugin.architectures, ["plain1"]);
    let target = registry.create_target(&description("plain1")).expect("a target");
    assert_eq!(target.description(), &description("plain1"));
    assert!(target.instructions().is_empty() && target.families().names().is_empty());
    let module = module("any");
    let artifact = target.compile(&module, &CompileOptions::default()).expect("code");
    let length = tilewright_kernel::encode_module(&module).len();
    assert_eq!(artifact.payload_text(CodeFormat::Assembly), Some(format!("; a module of {length} bytes\n").as_str()));
    let unknown = target.families().resolve(&FamilySpec::new("any"), &[4], &NeutralFamilies);
    assert_eq!(unknown, Err(FamilyError::Unknown { name: "any".to_owned(), known: Vec::new() }));
}
