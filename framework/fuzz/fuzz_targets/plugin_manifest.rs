//! Fuzz target: checks on inputs from libFuzzer that plugin manifests round-trip through TOML.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::plugin_manifest::check(bytes));
