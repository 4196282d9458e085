//! Tests of the choice of shared-memory layouts, for the small test target and for real targets: the chosen layouts are
//! compared with every linear layout and every padding of small problems, and executed on the emulator.

mod layouts;

mod blocks;
mod brute;
mod copies;
mod exhaustive;
mod gpu_models;
mod lemma;
mod padding;
mod rivals;
mod rows;
