//! Tests of `math`, one module per subject.

mod casts;
mod exact;
mod functions;
mod reference;
