//! Everything that the two sides of the plugin boundary read from each other, from anybody.

pub use tilewright::plugin::read_every_message as check;
