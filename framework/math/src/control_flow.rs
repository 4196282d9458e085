//! Branches and loops over numbers and words.

use super::place::{Place, Real, Truth, Word};
use tilewright_kernel::{Region, Value};

impl<'p> Place<'p> {
    /// Runs `then` in the lanes where the condition holds, `otherwise` in the others; both give as many numbers, and a
    /// word before them.
    pub fn branch<const N: usize>(
        &'p self,
        condition: Truth<'p>,
        then: impl FnOnce() -> (Word<'p>, [Real<'p>; N]),
        otherwise: impl FnOnce() -> (Word<'p>, [Real<'p>; N]),
    ) -> (Word<'p>, [Real<'p>; N]) {
        let then = self.region(then);
        let otherwise = self.region(otherwise);
        let mut types = vec![self.word_type()];
        types.resize(1 + N, self.number_type());
        let results = self.builder.borrow_mut().if_else(condition.value, then, otherwise, &types);
        (self.word_of(results[0]), std::array::from_fn(|index| self.real(results[index + 1])))
    }

    fn region<const N: usize>(&self, run: impl FnOnce() -> (Word<'p>, [Real<'p>; N])) -> Region {
        self.builder.borrow_mut().begin_region(&[]);
        let (word, numbers) = run();
        let values: Vec<Value> = [word.value].into_iter().chain(numbers.map(|number| number.value)).collect();
        self.builder.borrow_mut().end_region(&values)
    }

    /// Runs `body` on two words again and again until it gives false, and gives its last words.
    pub fn repeat(
        &'p self,
        first: [Word<'p>; 2],
        body: impl FnOnce([Word<'p>; 2]) -> (Truth<'p>, [Word<'p>; 2]),
    ) -> [Word<'p>; 2] {
        let step = |words, _: [Real<'p>; 0]| {
            let (again, words) = body(words);
            (again, words, [])
        };
        self.repeat_with(first, [], step).0
    }

    /// Runs `body` on words and numbers again and again until it gives false, and gives its last ones.
    pub fn repeat_with<const W: usize, const N: usize>(
        &'p self,
        words: [Word<'p>; W],
        numbers: [Real<'p>; N],
        body: impl FnOnce([Word<'p>; W], [Real<'p>; N]) -> (Truth<'p>, [Word<'p>; W], [Real<'p>; N]),
    ) -> ([Word<'p>; W], [Real<'p>; N]) {
        let values = |words: [Word<'p>; W], numbers: [Real<'p>; N]| -> Vec<Value> {
            words.map(|word| word.value).into_iter().chain(numbers.map(|number| number.value)).collect()
        };
        let given = |values: &[Value]| {
            let words = std::array::from_fn(|index| self.word_of(values[index]));
            (words, std::array::from_fn(|index| self.real(values[W + index])))
        };
        let mut types = vec![self.word_type(); W];
        types.resize(W + N, self.number_type());
        let arguments = self.builder.borrow_mut().begin_region(&types);
        let (words_before, numbers_before) = given(&arguments);
        let (again, words_after, numbers_after) = body(words_before, numbers_before);
        let mut next = vec![again.value];
        next.extend(values(words_after, numbers_after));
        let results = {
            let mut builder = self.builder.borrow_mut();
            let body = builder.end_region(&next);
            builder.while_loop(&values(words, numbers), body)
        };
        given(&results)
    }
}
