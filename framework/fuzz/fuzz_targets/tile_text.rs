//! Fuzz target: checks on inputs from libFuzzer that the text of tile programs round-trips.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::tile_text::check(bytes));
