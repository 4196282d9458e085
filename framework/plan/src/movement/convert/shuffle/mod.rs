//! Conversions within warps by shuffles (CUDA `__shfl_sync`, MLIR `gpu.shuffle`).
//!
//! Round `j` shuffles one word to every thread. Thread `t` takes the destination word `j ^ P t`. The linear map `P`
//! from threads to words is chosen so that each source thread serves one word only. The offered word is then a linear
//! function `k ^ Q t'` of the round's word `k` and the offering thread `t'` (Linear Layouts paper, section 5.4: `P`
//! pairs its sets E and F). If `Q` or `P` is not zero, the offered word, or the register of the received word, depends
//! on the thread and is chosen by selects. A round needs no shuffle if every thread would read from itself.
//!
//! Words are 32 bits: narrow elements are packed if source and destination keep them together. Elements of 64 bits are
//! selected whole and shuffled by halves.
//!
//! Before the rounds, a few bits of an element's position may be transposed in all words at once ([`moves`]): a
//! register bit with a lane bit, by the target's lane swap or, within words, by byte permutes. [`search`] chooses these
//! moves.

mod byte_merges;
mod emit;
mod moves;
mod plan;
mod rounds;
mod schedule;
mod search;
mod selects;
mod shuffles;
mod swap_emit;
mod words;

pub(super) use plan::{cycles_lower_bound, plan};
pub(super) use rounds::Round;
pub(super) use shuffles::ShufflePlan;
use words::WORD_BITS;
