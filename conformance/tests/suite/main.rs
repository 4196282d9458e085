//! Tests of the conformance suite, one module for each subject.

mod divisions;
mod groups;
mod mutants;
mod operand_stores;
mod out_of_tree;
mod packs;
mod programs;
mod replicas;
mod repository;
mod served;
mod vocabulary;
