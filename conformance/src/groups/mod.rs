//! The groups of the product's suite.
