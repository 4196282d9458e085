//! Fuzz target: checks on inputs from libFuzzer that target files are read, and cross the plugin boundary unchanged.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::target_toml::check(bytes));
