//! Tests that the C header agrees with `plugin::abi`, and that C programs can be plugins and hosts.

use tilewright_testkit::plugin_fixtures as fixtures;

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::process::Command;

use fixtures::{c_program, cc, fixture, plain};
use tilewright_plugin::abi::{
    ABI_MAJOR, ABI_MINOR, DeviceTable, Extension, HostTable, PieceTable, PluginTable, REQUIRED_DEVICE_TABLE_SIZE,
    REQUIRED_TABLE_SIZE, Slice,
};
use tilewright_plugin::{ErrorCode, LogLevel, wire};

const HEADER: &str = include_str!("../../include/tilewright_plugin.h");

macro_rules! field_offsets {
    ($($name:literal = $type:ty { $($field:ident),* })*) => {
        BTreeMap::from([$(
            ($name.to_owned(), size_of::<$type>()),
            $((format!("{}.{}", $name, stringify!($field)), offset_of!($type, $field)),)*
        )*])
    };
}

#[test]
fn field_offsets_match_rust() {
    let rust: BTreeMap<String, usize> = field_offsets! {
        "TilewrightSlice" = Slice { data, length }
        "TilewrightExtension" = Extension { struct_size, next, name }
        "TilewrightHost" = HostTable {
            struct_size, extensions, abi_major, abi_minor, context, log, progress
        }
        "TilewrightPlugin" = PluginTable {
            struct_size, extensions, abi_major, abi_minor, name, version, architecture, target_create,
            target_destroy, target_info, resolve_family, compile, blob_bytes, blob_destroy, error_code,
            error_message, error_destroy
        }
        "TilewrightPieceTable" = PieceTable { extension, target_pieces }
        "TilewrightDeviceTable" = DeviceTable {
            extension, open, close, device_name, allocate, free, write, read, load, unload, launch
        }
    };
    let output = Command::new(c_program("places.c")).output().expect("the C program");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let c: BTreeMap<String, usize> = printed
        .lines()
        .map(|line| line.split_once(' ').expect("a name and a number"))
        .map(|(name, number)| (name.to_owned(), number.parse().expect("a number")))
        .collect();
    assert_eq!(c, rust);
}

/// Returns the value that the C header defines for a name.
fn number(name: &str) -> u32 {
    let mut words = HEADER.split_whitespace().skip_while(|&word| word != name).skip(1).filter(|&word| word != "=");
    let word = words.next().unwrap_or_else(|| panic!("the header lacks {name}"));
    word.trim_end_matches([',', 'u']).parse().unwrap_or_else(|_| panic!("{name} is {word}"))
}

#[test]
fn constants_match_rust() {
    assert_eq!(number("TILEWRIGHT_PLUGIN_ABI_MAJOR"), ABI_MAJOR);
    assert_eq!(number("TILEWRIGHT_PLUGIN_ABI_MINOR"), ABI_MINOR);
    assert_eq!(number("TILEWRIGHT_PLUGIN_WIRE_VERSION"), wire::WIRE_VERSION);
    assert_eq!(number("TILEWRIGHT_LEVEL_ERROR"), LogLevel::ERROR.0);
    assert_eq!(number("TILEWRIGHT_LEVEL_WARNING"), LogLevel::WARNING.0);
    assert_eq!(number("TILEWRIGHT_LEVEL_INFO"), LogLevel::INFO.0);
    assert_eq!(number("TILEWRIGHT_LEVEL_DEBUG"), LogLevel::DEBUG.0);
    assert_eq!(number("TILEWRIGHT_ERROR_INTERNAL"), ErrorCode::INTERNAL.0);
    assert_eq!(number("TILEWRIGHT_ERROR_MALFORMED"), ErrorCode::MALFORMED.0);
    assert_eq!(number("TILEWRIGHT_ERROR_UNSUPPORTED"), ErrorCode::UNSUPPORTED.0);
    assert_eq!(number("TILEWRIGHT_ERROR_INVALID"), ErrorCode::INVALID.0);
    assert_eq!(number("TILEWRIGHT_ERROR_OPTION"), ErrorCode::OPTION.0);
    assert_eq!(number("TILEWRIGHT_ERROR_BACKEND"), ErrorCode::BACKEND.0);
    assert_eq!(number("TILEWRIGHT_ERROR_ARCHITECTURE"), ErrorCode::ARCHITECTURE.0);
    assert_eq!(number("TILEWRIGHT_ERROR_DESCRIPTION"), ErrorCode::DESCRIPTION.0);
    assert_eq!(number("TILEWRIGHT_ERROR_FAMILY"), ErrorCode::FAMILY.0);
    assert_eq!(number("TILEWRIGHT_ERROR_FAMILY_PARAMETER"), ErrorCode::FAMILY_PARAMETER.0);
    assert_eq!(number("TILEWRIGHT_ERROR_FAMILY_SHAPE"), ErrorCode::FAMILY_SHAPE.0);
    assert_eq!(number("TILEWRIGHT_ERROR_FAMILY_LAYOUT"), ErrorCode::FAMILY_LAYOUT.0);
    assert_eq!(number("TILEWRIGHT_ERROR_NO_RUNTIME"), ErrorCode::NO_RUNTIME.0);
    assert_eq!(number("TILEWRIGHT_ERROR_OUT_OF_MEMORY"), ErrorCode::OUT_OF_MEMORY.0);
    assert_eq!(number("TILEWRIGHT_ERROR_BUFFER"), ErrorCode::BUFFER.0);
    assert_eq!(number("TILEWRIGHT_ERROR_LAUNCH"), ErrorCode::LAUNCH.0);
    assert_eq!(number("TILEWRIGHT_ERROR_FAULT"), ErrorCode::FAULT.0);
    assert_eq!(number("TILEWRIGHT_ERROR_DRIVER"), ErrorCode::DRIVER.0);
}

#[test]
fn version_one_ends_with_its_last_function() {
    assert_eq!(REQUIRED_TABLE_SIZE, 16 + 14 * size_of::<usize>() - size_of::<usize>() + 8);
    assert_eq!(REQUIRED_DEVICE_TABLE_SIZE, 14 * size_of::<usize>());
}

fn accepted(compiler: &str, arguments: &[&str]) {
    let output = cc(compiler, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_header_is_c99() {
    for source in ["plain.c", "load.c", "places.c", "hostile_devices.c"] {
        accepted("cc", &["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DCASE=0", source]);
    }
}

#[test]
fn a_c_program_loads_plugins_of_both_kinds() {
    let program = c_program("load.c");
    for (library, expected) in [
        (plain(), "name plain\nversion 1.2.3\narchitecture plain1\n".to_owned()),
        (
            fixture(),
            format!(
                "name fixture\nversion {}\narchitecture fixture1\narchitecture fixture2\nrefused {} with the target \
                 description\n",
                env!("CARGO_PKG_VERSION"),
                ErrorCode::MALFORMED.0
            ),
        ),
    ] {
        let output = Command::new(&program).arg(&library).env_remove("LD_LIBRARY_PATH").output().expect("the C host");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
}
