//! Fuzz target: checks on inputs from libFuzzer that kernel IR round-trips through its text and its bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::kernel_text::check(bytes));
