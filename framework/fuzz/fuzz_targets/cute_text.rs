//! Fuzz target: checks on inputs from libFuzzer that CuTe notation round-trips and agrees with linear layouts.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::cute_text::check(bytes));
