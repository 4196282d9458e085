//! Fuzz target: checks on inputs from libFuzzer that any bytes decode to a kernel module or give an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::kernel_bytes::check(bytes));
