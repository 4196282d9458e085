//! Tests of the conformance suite, one module for each subject.

mod groups;
mod mutants;
mod out_of_tree;
mod packs;
mod replicas;
mod repository;
mod served;
mod vocabulary;
