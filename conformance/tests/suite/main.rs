//! Tests of `suite`, one module for each subject.

mod groups;
mod mutants;
mod out_of_tree;
mod packs;
mod product;
mod served;
mod vocabulary;
