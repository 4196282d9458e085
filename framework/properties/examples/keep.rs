//! Example program: writes the inputs in each folder `corpus/NAME`, shortest first, to the committed file
//! `corpus/NAME.txt`.
//!
//! Run `cargo run --release -p tilewright-properties --example keep` after libFuzzer has added or merged inputs in the
//! folders.

use std::fs;
use std::io;

use tilewright_properties::{PROPERTIES, corpus};

/// Approximate maximum size of a committed file in bytes; the longest inputs, which would exceed it, are left out.
const LONGEST: usize = 256 << 10;

fn main() -> io::Result<()> {
    for property in PROPERTIES {
        let mut inputs = Vec::new();
        for file in fs::read_dir(corpus::corpus_folder(property.name))? {
            inputs.push(fs::read(file?.path())?);
        }
        inputs.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        let mut length = 0;
        let kept = inputs.iter().take_while(|input| {
            let fits = length < LONGEST;
            length += corpus::escape_input(input).len() + 1;
            fits
        });
        let kept = kept.count();
        corpus::write_corpus(property.name, &inputs[..kept])?;
        println!("{}: {kept} of {} inputs kept", property.name, inputs.len());
    }
    Ok(())
}
