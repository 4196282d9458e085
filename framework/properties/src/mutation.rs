//! Deterministic mutations of inputs: flipped bits, replaced bytes, boundary numbers, and parts that are removed,
//! repeated, or taken from another input.

use std::ops::Range;
use tilewright_testkit::seeded_rng::SeededRng;

/// Maximum length of a mutated input in bytes.
pub const MAX_INPUT_BYTES: usize = 1 << 14;

/// Numbers at limits of integer types and of typical sizes, as decimal text.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "3",
    "31",
    "65",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "-9223372036854775808",
    "99999999999999999999999",
];

/// A pseudo-random sequence of mutated inputs, determined by its seed.
#[derive(Debug, Clone)]
pub struct Mutations(SeededRng);

impl Mutations {
    /// Creates the sequence of mutated inputs that the seed `seed` determines.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(SeededRng::new(seed))
    }

    /// Returns a mutated copy of one of `inputs`, chosen at random, after one to four mutations; empty bytes if there
    /// are no inputs.
    pub fn next_input(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        if inputs.is_empty() {
            return Vec::new();
        }
        let mut input = inputs[self.below(inputs.len())].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut input, inputs);
            input.truncate(MAX_INPUT_BYTES);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        match self.below(7) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.below(256) as u8,
            2 => self.number(input, at),
            3 => {
                let subrange = self.subrange(input.len());
                input.drain(subrange);
            }
            4 => {
                let subrange = self.subrange(input.len());
                let repeated = input[subrange].repeat(1 + self.below(3));
                input.splice(at..at, repeated);
            }
            5 => input.truncate(at),
            _ => {
                let other = &inputs[self.below(inputs.len())];
                let (taken, given) = (self.subrange(input.len()), self.subrange(other.len()));
                input.splice(taken, other[given].iter().copied());
            }
        }
    }

    /// Replaces the first decimal number of `input` at or after byte `at` by a random entry of `NUMBERS`; if no number
    /// follows, inserts the entry at `at`.
    fn number(&mut self, input: &mut Vec<u8>, at: usize) {
        let digit = |byte: &u8| byte.is_ascii_digit();
        let start = input[at..].iter().position(digit).map_or(at, |found| at + found);
        let length = input[start..].iter().take_while(|byte| digit(byte)).count();
        let number = NUMBERS[self.below(NUMBERS.len())];
        input.splice(start..start + length, number.bytes());
    }

    /// Returns a random range of byte indices below `length`, mostly short and at most 256 bytes long; it may be empty.
    fn subrange(&mut self, length: usize) -> Range<usize> {
        let start = self.below(length + 1);
        let most = (length - start).min(1 << self.below(9));
        start..start + self.below(most + 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_and_most_inputs_change() {
        let inputs = vec![b"layout 16 by 32".to_vec(), b"(4,8):(8,1)".to_vec(), Vec::new()];
        let run = |seed| {
            let mut changes = Mutations::from_seed(seed);
            (0..200).map(|_| changes.next_input(&inputs)).collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert!(run(1).iter().filter(|changed| !inputs.contains(changed)).count() > 150);
        assert_eq!(Mutations::from_seed(1).next_input(&[]), Vec::<u8>::new());
    }
}
