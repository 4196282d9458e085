//! Conversions within warps, by exchanges between lanes.
//!
//! Round `j` hands out one word to every thread. Thread `t` takes in destination word `j ^ P t`,
//! for a linear `P` from threads to words chosen so that each source thread is asked for one word
//! only; that word is then a linear function `k ^ Q t'` of the round and the offering thread (seed
//! 000, section 5.4: `P` pairs its sets E and F). Which word a thread offers and where it puts what
//! it receives depends on the thread where `Q` and `P` are not zero: those are selects. In a round in
//! which every thread would read from itself nothing is exchanged.
//!
//! Words are 32 bits: narrow elements are packed where source and destination keep them together.
//! Elements of 64 bits are selected whole and exchanged by halves.
//!
//! Before the rounds a few bits of an element's position may be exchanged for others in all words at
//! once ([`moves`]): a bit of the register for one of the lane, by swaps of the target's or inside
//! words by byte permutes. [`search`] weighs which.

mod emit;
mod joins;
mod moves;
mod plan;
mod rounds;
mod search;
mod selects;
mod shuffles;
mod taking;
mod trade;
mod words;

pub(super) use plan::plan;
pub(super) use rounds::Round;
pub(super) use shuffles::Exchanges;
use words::WORD_BITS;
