//! Fuzz target: checks on inputs from libFuzzer that any bytes give a message between host and plugin, or an error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tilewright_properties::plugin_messages::check(bytes));
