//! Choosing memory layouts: against every linear layout of small machines, against every padding, and on
//! the emulator, on an invented machine and on products.

mod layouts;

mod blocks;
mod brute;
mod copies;
mod exhaustive;
mod lemma;
mod padding;
mod products;
mod rows;
