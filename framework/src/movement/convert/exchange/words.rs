//! Words: which registers travel together, and where each word comes from.

use super::super::super::Conversion;
use super::super::super::conversion::{Origin, Position};
use super::WORD_BITS;

/// How registers make up words, on each side.
#[derive(Debug, Clone)]
pub(in super::super) struct Words {
    /// Source register bits inside a word, the lowest element bit first.
    pub(super) src_inner: Vec<u32>,
    /// Source register bits that number words.
    pub(super) src_outer: Vec<u32>,
    /// Destination register bits inside a word.
    pub(super) dst_inner: Vec<u32>,
    /// Destination register bits that number words.
    pub(super) dst_outer: Vec<u32>,
    /// Destination register bits that only replicate.
    pub(super) dst_copies: Vec<u32>,
}

impl Words {
    pub(super) fn new(conversion: &Conversion, origin: &Origin) -> Self {
        let room = (WORD_BITS / conversion.element.bits()).max(1).trailing_zeros() as usize;
        let (mut src_inner, mut dst_inner, mut dst_copies) = (Vec::new(), Vec::new(), Vec::new());
        for (bit, source) in (0u32..).zip(&origin.of_registers) {
            if *source == Position::default() {
                dst_copies.push(bit);
            }
        }
        for (bit, source) in (0u32..).zip(&origin.of_registers) {
            let moves_one_bit = source.thread == 0 && source.register.is_power_of_two();
            if dst_inner.len() < room && moves_one_bit && alone(origin, bit, source.register) {
                src_inner.push(source.register.trailing_zeros());
                dst_inner.push(bit);
            }
        }
        let others = |count: usize, taken: &[&[u32]]| -> Vec<u32> {
            (0..count as u32).filter(|bit| !taken.iter().any(|t| t.contains(bit))).collect()
        };
        Self {
            src_outer: others(conversion.src.registers.len(), &[&src_inner]),
            dst_outer: others(conversion.dst.registers.len(), &[&dst_inner, &dst_copies]),
            src_inner,
            dst_inner,
            dst_copies,
        }
    }

    pub(super) fn src_register(&self, word: u64, element: u64) -> u64 {
        spread(word, &self.src_outer) | spread(element, &self.src_inner)
    }

    pub(in super::super) fn dst_word(&self, register: u64) -> (u64, u64) {
        (gather(register, &self.dst_outer), gather(register, &self.dst_inner))
    }
}

/// Whether the source register bit comes from this one destination bit only.
fn alone(origin: &Origin, bit: u32, register: u64) -> bool {
    let others = (0u32..).zip(&origin.of_registers).filter(|&(other, _)| other != bit).map(|(_, p)| p);
    others.chain(&origin.of_threads).all(|p| p.register & register == 0)
}

fn spread(packed: u64, bits: &[u32]) -> u64 {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (packed >> at & 1) << bit)
}

fn gather(spread: u64, bits: &[u32]) -> u64 {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (spread >> bit & 1) << at)
}

/// Where words come from: the origin of positions, registers counted in words.
pub(super) struct WordMap {
    pub(super) of_words: Vec<Position>,
    pub(super) of_threads: Vec<Position>,
}

impl WordMap {
    pub(super) fn new(origin: &Origin, words: &Words) -> Self {
        let counted = |p: Position| Position { register: gather(p.register, &words.src_outer), thread: p.thread };
        let of_words = words.dst_outer.iter().map(|&bit| counted(origin.of_registers[bit as usize]));
        Self { of_words: of_words.collect(), of_threads: origin.of_threads.iter().map(|&p| counted(p)).collect() }
    }

    pub(super) fn of_word(&self, word: u64) -> Position {
        let images = self.of_words.iter().enumerate().filter(|(bit, _)| word >> bit & 1 == 1);
        images.fold(Position::default(), |sum, (_, image)| sum.plus(*image))
    }
}

impl Position {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { register: self.register ^ other.register, thread: self.thread ^ other.thread }
    }
}
