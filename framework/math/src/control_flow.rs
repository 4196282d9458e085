//! Branches and loops over `Real` and `Int` values.

use super::formula_builder::{Bool, FormulaBuilder, Int, Real};
use tilewright_kernel::{Region, Value};

impl<'p> FormulaBuilder<'p> {
    /// Emits a branch: `then` if the condition holds, else `otherwise`. Each lane takes one arm; both arms emit
    /// operations and return an integer and N floating-point values. Returns those of the arm that is taken.
    pub fn emit_branch<const N: usize>(
        &'p self,
        condition: Bool<'p>,
        then: impl FnOnce() -> (Int<'p>, [Real<'p>; N]),
        otherwise: impl FnOnce() -> (Int<'p>, [Real<'p>; N]),
    ) -> (Int<'p>, [Real<'p>; N]) {
        let then = self.region(then);
        let otherwise = self.region(otherwise);
        let mut types = vec![self.int_type()];
        types.resize(1 + N, self.float_type());
        let results = self.builder.borrow_mut().if_else(condition.value, then, otherwise, &types);
        (self.wrap_int(results[0]), std::array::from_fn(|index| self.wrap_real(results[index + 1])))
    }

    fn region<const N: usize>(&self, run: impl FnOnce() -> (Int<'p>, [Real<'p>; N])) -> Region {
        self.builder.borrow_mut().begin_region(&[]);
        let (int, numbers) = run();
        let values: Vec<Value> = [int.value].into_iter().chain(numbers.map(|number| number.value)).collect();
        self.builder.borrow_mut().end_region(&values)
    }

    /// Emits a loop that carries integers and floating-point values, with the initial values `ints` and `numbers`.
    /// `body` emits one iteration: it returns whether the loop continues, and the values of the next iteration. Returns
    /// the values after the last iteration.
    pub fn emit_loop<const W: usize, const N: usize>(
        &'p self,
        ints: [Int<'p>; W],
        numbers: [Real<'p>; N],
        body: impl FnOnce([Int<'p>; W], [Real<'p>; N]) -> (Bool<'p>, [Int<'p>; W], [Real<'p>; N]),
    ) -> ([Int<'p>; W], [Real<'p>; N]) {
        let values = |ints: [Int<'p>; W], numbers: [Real<'p>; N]| -> Vec<Value> {
            ints.map(|int| int.value).into_iter().chain(numbers.map(|number| number.value)).collect()
        };
        let given = |values: &[Value]| {
            let ints = std::array::from_fn(|index| self.wrap_int(values[index]));
            (ints, std::array::from_fn(|index| self.wrap_real(values[W + index])))
        };
        let mut types = vec![self.int_type(); W];
        types.resize(W + N, self.float_type());
        let arguments = self.builder.borrow_mut().begin_region(&types);
        let (ints_before, numbers_before) = given(&arguments);
        let (loop_condition, ints_after, numbers_after) = body(ints_before, numbers_before);
        let mut next = vec![loop_condition.value];
        next.extend(values(ints_after, numbers_after));
        let results = {
            let mut builder = self.builder.borrow_mut();
            let body = builder.end_region(&next);
            builder.while_loop(&values(ints, numbers), body)
        };
        given(&results)
    }
}
