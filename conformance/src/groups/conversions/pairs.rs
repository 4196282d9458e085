//! Pairs of layouts: each to each other, for every width of elements.

use super::super::corpus::{LayoutCorpus, Turns};
use super::ConversionCase;
use crate::Context;

/// Tensors on which each pair is shown, for each width.
const TENSORS: usize = 2;

pub(super) fn pairs(context: &Context) -> Vec<ConversionCase> {
    let (mut conversions, mut turns) = (Vec::new(), Turns::new(context));
    for corpus in LayoutCorpus::all(context) {
        let names = corpus.distributed();
        for source in &names {
            for target in names.iter().filter(|&target| target != source) {
                for (tensor, ends) in corpus.some(&mut turns, TENSORS, &[source, target], |_| true) {
                    conversions.push(ConversionCase::between(ends[0].clone(), ends[1].clone(), tensor));
                }
            }
        }
    }
    conversions
}
