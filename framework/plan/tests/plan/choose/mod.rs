//! Tests of the choice of shared-memory layouts: the chosen layouts are compared with every linear layout of small
//! machines and with every padding, and executed on the emulator, for an invented machine and for real targets.

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
