//! Fuzz target: checks on inputs from libFuzzer that the JSON of layouts and layout families round-trips.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::layout_json::check(bytes));
