//! Text of tile programs: it is refused at a place, or read; what keeps the rules is written so that it is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilewright::tile::op::Dialects;
use tilewright::tile::{text, verify};

fuzz_target!(|source: &str| {
    let dialects = Dialects::neutral();
    match text::parse(source, &dialects) {
        Err(error) => assert!(source.is_char_boundary(error.at)),
        Ok(module) => {
            if verify(&module).is_ok() {
                let written = text::print(&module);
                let again = text::parse(&written, &dialects).unwrap_or_else(|error| panic!("{error}\n{written}"));
                assert_eq!(text::print(&again), written);
            }
        }
    }
});
