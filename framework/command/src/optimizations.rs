//! `tilewright optimizations`: lists the optimizations that a compilation can disable.

use std::io::Write;

use tilewright_target::Optimization;

use crate::failure::CommandError;

/// Runs `tilewright optimizations`.
pub fn run() -> Result<(), CommandError> {
    let width = Optimization::ALL.map(|optimization| optimization.name().len()).into_iter().max().unwrap_or(0);
    let mut out = std::io::stdout().lock();
    for optimization in Optimization::ALL {
        writeln!(out, "{:width$}  {}", optimization.name(), optimization.summary())?;
    }
    Ok(())
}
