//! Layout conversions between all pairs of sample layouts, for every element width.

use super::super::corpus::{LayoutCorpus, Sampler};
use super::ConversionCase;
use crate::Context;

/// Number of tensors that a usual run checks for each pair of layouts and element width.
const TENSORS: usize = 2;

pub(super) fn pairs(context: &Context) -> Vec<ConversionCase> {
    let (mut conversions, mut sampler) = (Vec::new(), Sampler::new(context));
    for corpus in LayoutCorpus::all(context) {
        let names = corpus.distributed();
        for source in &names {
            for target in names.iter().filter(|&target| target != source) {
                for (tensor, ends) in corpus.select_tensors(&mut sampler, TENSORS, &[source, target], |_| true) {
                    conversions.push(ConversionCase::between(ends[0].clone(), ends[1].clone(), tensor));
                }
            }
        }
    }
    conversions
}
