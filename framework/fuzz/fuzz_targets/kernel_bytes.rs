//! Checks the property of this name on inputs from libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::kernel_bytes::check(bytes));
