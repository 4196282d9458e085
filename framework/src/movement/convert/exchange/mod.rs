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

mod emit;
mod rounds;
mod selects;
mod words;

use smallvec::SmallVec;

use crate::f2::multiply;
use crate::kernel::{Counts, Element};
use crate::target::TargetDescription;

use super::super::Conversion;
use super::super::bound;
use super::super::conversion::{Origin, Position};
use super::super::price::{cost, slots};
use super::plan::{Path, Plan, Steps};
use rounds::{choose_destinations, offers, stay_at_home};
use selects::{Selects, Word, by_parities};
use words::{WordMap, Words};

const WORD_BITS: u32 = 32;

/// How the exchanges go.
#[derive(Debug, Clone)]
pub(super) struct Exchanges {
    element: Element,
    lane_bits: u32,
    pub(super) words: Words,
    pub(super) rounds: Vec<Round>,
    selects: Selects,
    /// The words of the destination.
    taken: Vec<Word>,
    /// Columns of `P`: what each thread bit adds to the round in which a word is taken.
    pub(super) taken_columns: Vec<u64>,
    /// Columns of the source thread, one for each thread bit.
    pub(super) source_thread: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// What a thread offers; `None` where every thread would read from itself.
    offered: Option<Word>,
    /// Source thread for thread 0.
    pub(super) thread: u64,
}

impl Round {
    /// Whether every thread would read from itself.
    pub(super) fn stays(&self) -> bool {
        self.offered.is_none()
    }
}

/// The best way that takes fewer wavefront slots than `most`.
pub(super) fn plan(conversion: &Conversion, target: &TargetDescription, most: f64) -> Result<Plan, String> {
    let exchange_bits = target.index_exchange_bits().ok_or("the target has no exchange by lane index")?;
    if exchange_bits != WORD_BITS {
        return Err(format!("exchanges of {exchange_bits} bits; words of {WORD_BITS} are planned"));
    }
    let origin = conversion.origin.as_ref().ok_or("elements cross blocks")?;
    stays_in_warp(conversion, origin)?;
    let words = Words::new(conversion, origin);
    let map = WordMap::new(origin, &words);
    let few_selects = choose_destinations(&map);
    let few_exchanges = stay_at_home(&map).filter(|columns| Some(columns) != few_selects.as_ref());
    if few_selects.is_none() && few_exchanges.is_none() {
        return Err("threads ask one thread for several words in any order".to_owned());
    }
    let mut best: Option<Exchanges> = None;
    for columns in few_selects.iter().chain(&few_exchanges) {
        let question = Question { conversion, words: &words, map: &map };
        let least = best.as_ref().map_or(most, |best| most.min(slots(&best.counts())));
        best = question.best(columns, least).or(best);
    }
    let best = best.ok_or_else(|| format!("takes {most} wavefront slots or more"))?;
    Ok(priced(conversion, best, exchange_bits, target))
}

fn priced(conversion: &Conversion, exchanges: Exchanges, exchange_bits: u32, target: &TargetDescription) -> Plan {
    let counts = exchanges.counts();
    let bound = bound::of_exchanges(conversion, exchange_bits);
    let above = counts.exchanges > bound.exchanges;
    // The table's selects are of 32 bits.
    let issued = Counts { selects: counts.selects * exchanges.parts(), ..counts };
    Plan {
        path: if counts.exchanges == 0 { Path::Register } else { Path::Shuffle },
        counts,
        shared_bytes: 0,
        cost: cost(&issued, conversion.warps(), 1, target),
        bound,
        above_bound: above.then(|| exchanges.why_above(bound.exchanges)),
        steps: Steps::Exchanges(Box::new(exchanges)),
    }
}

fn stays_in_warp(conversion: &Conversion, origin: &Origin) -> Result<(), String> {
    let lanes = conversion.lane_mask();
    let crosses = |p: &Position, own: u64| p.thread & !lanes != own & !lanes;
    let threads = origin.of_threads.iter().enumerate().any(|(bit, p)| crosses(p, 1 << bit));
    if threads || origin.of_registers.iter().any(|p| crosses(p, 0)) {
        return Err("a warp needs elements of other warps".to_owned());
    }
    Ok(())
}

/// What is exchanged, in words.
struct Question<'a> {
    conversion: &'a Conversion,
    words: &'a Words,
    map: &'a WordMap,
}

/// What is taken from where: the columns of `P`, of `Q`, and of the source thread.
struct Taking {
    dst_columns: Vec<u64>,
    src_columns: Vec<u64>,
    source_thread: Vec<u64>,
    /// For each round the source word that thread 0 offers, and the source thread of thread 0; `None`
    /// where every thread would read from itself.
    rounds: Vec<(u64, Option<u64>)>,
}

impl Question<'_> {
    /// The best of the ways with the given `P`: parities in either order, and what stays in its thread
    /// selected on its own or along with what comes. `None` where each takes `most` slots or more.
    fn best(&self, dst_columns: &[u64], most: f64) -> Option<Exchanges> {
        let taking = Taking::new(self.map, dst_columns);
        let parts = u64::from(self.conversion.element.bits().div_ceil(WORD_BITS));
        let moving = taking.rounds.iter().filter(|(_, thread)| thread.is_some()).count() as u64;
        let mut best = None;
        let mut least = most;
        let parities = by_parities(&taking.dst_columns, &taking.src_columns, false).0.len();
        let variants = [(false, false), (false, true), (true, false), (true, true)];
        for (reversed, apart) in variants.into_iter().take(if parities > 1 { 4 } else { 1 }) {
            // A way is better only with fewer selects than this.
            let selects = ((least - (moving * parts) as f64) * 4.0).ceil();
            if selects < 0.0 {
                break;
            }
            if let Some((rounds, selects, taken)) = taking.selected(reversed, apart, selects as usize) {
                let found = Exchanges {
                    element: self.conversion.element,
                    lane_bits: self.conversion.lane_bits,
                    words: self.words.clone(),
                    rounds,
                    selects,
                    taken,
                    taken_columns: taking.dst_columns.clone(),
                    source_thread: taking.source_thread.clone(),
                };
                least = slots(&found.counts());
                best = Some(found);
            }
        }
        best
    }
}

impl Taking {
    fn new(map: &WordMap, dst_columns: &[u64]) -> Self {
        let asked = map.of_threads.iter().zip(dst_columns).map(|(own, &word)| own.plus(map.of_word(word)));
        let asked: Vec<Position> = asked.collect();
        let source_thread: Vec<u64> = asked.iter().map(|p| p.thread).collect();
        let src_columns = offers(&asked, &source_thread);
        let identity = source_thread.iter().enumerate().all(|(bit, &thread)| thread == 1 << bit);
        let rounds = (0..1u64 << map.of_words.len()).map(|dst| {
            let source = map.of_word(dst);
            // What a thread offers is counted from thread 0, so the source thread's share comes off.
            let src = source.register ^ multiply(&src_columns, source.thread);
            (src, (!identity || source.thread != 0).then_some(source.thread))
        });
        let rounds = rounds.collect();
        Self { dst_columns: dst_columns.to_vec(), src_columns, source_thread, rounds }
    }

    /// The rounds, the selects, and the words of the destination. What stays is selected `apart`, or
    /// along with what is received. `None` with `most` selects or more.
    fn selected(&self, reversed: bool, apart: bool, most: usize) -> Option<(Vec<Round>, Selects, Vec<Word>)> {
        let (parities, taken, offered) = by_parities(&self.dst_columns, &self.src_columns, reversed);
        let mut selects = Selects::new(parities);
        let combinations = selects.combinations();
        let mut rounds = Vec::with_capacity(self.rounds.len());
        let mut staying = vec![None; self.rounds.len()];
        let mut table: SmallVec<[Word; 32]> = SmallVec::new();
        for (&(src, thread), stays) in self.rounds.iter().zip(&mut staying) {
            let mut value = None;
            if thread.is_some() || apart {
                table.clear();
                table.extend((0..combinations).map(|parity| Word::Source((src ^ offered.word(parity)) as u32)));
                value = Some(selects.value(&table));
            }
            if thread.is_none() {
                *stays = value;
            }
            rounds.push(Round { offered: value.filter(|_| thread.is_some()), thread: thread.unwrap_or(0) });
        }
        let from = |dst: u64, parity: usize| {
            let round = (dst ^ taken.word(parity)) as usize;
            match (self.rounds[round], staying[round]) {
                ((_, Some(_)), _) => Word::Received(round as u32),
                (_, Some(selected)) => selected,
                ((src, None), None) => Word::Source((src ^ offered.word(parity)) as u32),
            }
        };
        let mut words = Vec::with_capacity(rounds.len());
        for dst in 0..rounds.len() as u64 {
            table.clear();
            table.extend((0..combinations).map(|parity| from(dst, parity)));
            words.push(selects.value(&table));
            if selects.selects.len() >= most {
                return None;
            }
        }
        Some((rounds, selects, words))
    }
}

impl Exchanges {
    /// Exchanges that an element, or a group of packed ones, takes.
    fn parts(&self) -> u64 {
        u64::from(self.element.bits().div_ceil(WORD_BITS))
    }

    fn counts(&self) -> Counts {
        let moving = self.rounds.iter().filter(|round| round.offered.is_some()).count() as u64;
        Counts { exchanges: moving * self.parts(), selects: self.selects.selects.len() as u64, ..Counts::default() }
    }

    fn why_above(&self, bound: u64) -> String {
        let packed = 1u32 << self.words.src_inner.len();
        let fits = (WORD_BITS / self.element.bits()).max(1);
        if packed < fits {
            return format!(
                "only {packed} of {fits} elements that fit a word stay together in both layouts; {bound} exchanges \
                 would carry full words"
            );
        }
        format!("some lanes exchange in every round what they hold already; the neediest lacks {bound} words")
    }
}
