//! Fuzz target: checks on inputs from libFuzzer that the attribute text of layouts round-trips.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::layout_text::check(bytes));
