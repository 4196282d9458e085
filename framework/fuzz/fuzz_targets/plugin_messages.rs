//! Everything that the two sides of the plugin boundary read from each other, from anybody.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tilewright::plugin::read_every_message(bytes));
