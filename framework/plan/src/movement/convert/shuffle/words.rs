//! Words: the groups of registers that one shuffle moves together, and the source of each word.

use super::moves::Moves;
use crate::movement::ConversionProblem;
use crate::movement::conversion::{Origin, Position};
use tilewright_kernel::Element;

/// Number of bits that one shuffle moves.
pub(super) const WORD_BITS: u32 = 32;

/// The partition of source and destination registers into words (groups that one shuffle moves).
#[derive(Debug, Clone)]
pub(in super::super) struct Words {
    /// The source register bits that select an element within a word, the lowest element bit first.
    pub(super) src_inner: Vec<u32>,
    /// The source register bits that number words: the bits that are read and, beyond the source's register bits, bits
    /// that number replicas of words.
    pub(super) src_outer: Vec<u32>,
    /// The mask of the source's register bits.
    src_mask: u64,
    /// The destination register bits that select an element within a word.
    pub(super) dst_inner: Vec<u32>,
    /// The destination register bits that number words.
    pub(super) dst_outer: Vec<u32>,
    /// The destination register bits that only number replicas.
    pub(super) dst_copies: Vec<u32>,
}

impl Words {
    /// Partitions registers into words, for elements that come from the positions `origin` after `moves`. The moves fix
    /// the role of some register bits: within words, or numbering words. `None` if a register bit that a move needs
    /// within words does not stay in its lane.
    pub(super) fn new(conversion: &ConversionProblem, origin: &Origin, moves: &Moves) -> Option<Self> {
        let room = room(conversion.element) as usize;
        let lane_local = lane_local(origin);
        if moves.inner & !lane_local != 0 || moves.inner.count_ones() > room as u32 {
            return None;
        }
        let copies = |p: &Position| *p == Position::default();
        let bits = || (0u32..).zip(&origin.of_registers);
        let dst_copies: Vec<u32> = bits().filter(|(_, p)| copies(p)).map(|(bit, _)| bit).collect();
        let stays = |within: u64| bits().filter(move |(_, p)| p.thread == 0 && p.register & within != 0);
        let inner = stays(lane_local & moves.inner).chain(stays(lane_local & !moves.inner & !moves.outer)).take(room);
        let (src_inner, dst_inner): (Vec<u32>, Vec<u32>) =
            inner.map(|(bit, p)| (p.register.trailing_zeros(), bit)).unzip();
        let read = bits().map(|(_, p)| p).chain(&origin.of_threads).fold(moves.outer, |sum, p| sum | p.register);
        let others = |bits: u32, taken: &[&[u32]]| -> Vec<u32> {
            (0..bits).filter(|bit| !taken.iter().any(|t| t.contains(bit))).collect()
        };
        let mut src_outer = others(u64::BITS - read.leading_zeros(), &[&src_inner]);
        src_outer.retain(|bit| read >> bit & 1 == 1);
        Some(Self {
            src_outer,
            src_mask: (1 << conversion.src.registers.len()) - 1,
            dst_outer: others(conversion.dst.registers.len() as u32, &[&dst_inner, &dst_copies]),
            src_inner,
            dst_inner,
            dst_copies,
        })
    }

    /// Returns the number of 32-bit words (64-bit for elements of 64 bits) of a thread in the source.
    pub(super) fn count(&self) -> u64 {
        1 << self.src_outer.len()
    }

    pub(super) fn src_register(&self, word: u64, element: u64) -> u64 {
        (replicas(word, &self.src_outer) | replicas(element, &self.src_inner)) & self.src_mask
    }

    /// Returns the destination's registers regrouped into words of consecutive registers, at most 2^`max_bits` in each.
    pub(super) fn in_register_order(&self, max_bits: u32) -> Self {
        let mut bits = [&self.dst_inner[..], &self.dst_outer].concat();
        bits.sort_unstable();
        let outer = bits.split_off(bits.len().min(max_bits as usize));
        Self { dst_inner: bits, dst_outer: outer, ..self.clone() }
    }

    pub(in super::super) fn dst_word(&self, register: u64) -> (u64, u64) {
        (gather(register, &self.dst_outer), gather(register, &self.dst_inner))
    }
}

/// Log2 of the number of elements that fit into a word.
pub(super) fn room(element: Element) -> u32 {
    (WORD_BITS / element.bits()).max(1).trailing_zeros()
}

/// Returns the mask of the source register bits that only a single destination register bit reads, which reads no other
/// bit. Elements along these bits stay in their lane.
pub(super) fn lane_local(origin: &Origin) -> u64 {
    let (mut once, mut repeated) = (0, 0);
    for p in &origin.of_registers {
        let alone = p.thread == 0 && p.register.is_power_of_two();
        repeated |= once & p.register | if alone { 0 } else { p.register };
        once |= p.register;
    }
    once & !origin.of_threads.iter().fold(repeated, |sum, p| sum | p.register)
}

pub(super) fn replicas(packed: u64, bits: &[u32]) -> u64 {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (packed >> at & 1) << bit)
}

pub(super) fn gather(replicas: u64, bits: &[u32]) -> u64 {
    bits.iter().enumerate().fold(0, |sum, (at, &bit)| sum | (replicas >> bit & 1) << at)
}

/// The source of each destination word, as a linear map: the source position (word, thread) that each bit of the
/// destination word's index adds, and that each bit of the thread index adds.
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
