//! Expresses integers and addresses of a kernel as sums ([`IndexForm`]) over the iteration numbers of loops.
//!
//! A loop-carried counter becomes a function of the loop's iteration number: `i + c`. So do counters that wrap around,
//! by a remainder, by a comparison and a select, or by a flipped bit. Then the counters of a loop can be compared with
//! each other, and with those of the preceding iteration. Additions are assumed not to overflow: an index of the
//! program lies within its buffer.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use tilewright_kernel::{Binary, Cast, Compare, Kernel, Op, Region, Statement, Type, Value};

use super::index_form::{Atom, IndexForm};

/// Max number of operations that the analysis follows from one value; a value beyond counts as unknown.
const MAX_STEPS: u32 = 256;

/// Max divisor of the remainder by which a carried counter wraps around; greater ones are not recognized.
const MAX_DIVISOR: i64 = 64;

/// The definition of a value.
#[derive(Debug, Clone, Copy)]
enum Origin<'a> {
    Statement(&'a Op),
    /// The induction variable of the counted loop with this number.
    Index(usize),
    /// A carried value inside a loop: the loop's number, and the index among the carried values.
    Carried(usize, usize),
    /// A result of a loop: the loop's number, and the index among the results.
    LoopResult(usize, usize),
}

/// The values that a loop carries: the initial values, and the values of the next iteration.
#[derive(Debug)]
struct Loop<'a> {
    parent: Option<usize>,
    initial: &'a [Value],
    next: &'a [Value],
    arguments: Vec<Value>,
    /// The first index and the step of a counted loop; `None` for a while loop.
    index: Option<(Value, Value)>,
}

/// The definitions of a kernel's values, and a cache of their values as sums. A loop is named by the number of its
/// statement.
#[derive(Debug)]
pub(super) struct IndexAnalysis<'a> {
    origins: HashMap<Value, Origin<'a>>,
    constants: HashMap<Value, i64>,
    /// The values whose type is narrower than an index: their sums may wrap around.
    narrow: HashSet<Value>,
    /// For each value that a loop carries to the next iteration: the loop's number, and the index among the carried
    /// values.
    nexts: HashMap<Value, (usize, usize)>,
    /// For each value that is defined in a loop, the number of the innermost such loop.
    homes: HashMap<Value, usize>,
    loops: HashMap<usize, Loop<'a>>,
    known: RefCell<HashMap<Value, IndexForm>>,
    /// The carried values whose next value the analysis is expressing, the innermost last.
    assumed: RefCell<Vec<Value>>,
    steps: Cell<u32>,
}

impl<'a> IndexAnalysis<'a> {
    pub(super) fn new(kernel: &'a Kernel) -> Self {
        let mut analysis = Self {
            origins: HashMap::new(),
            constants: HashMap::new(),
            narrow: HashSet::new(),
            nexts: HashMap::new(),
            homes: HashMap::new(),
            loops: HashMap::new(),
            known: RefCell::default(),
            assumed: RefCell::default(),
            steps: Cell::new(0),
        };
        analysis.define(&kernel.body, None, &mut 0);
        analysis
    }

    /// Records the definitions in a region, which lies in the loop with the number `inside`; `position` is the number
    /// of the next statement.
    fn define(&mut self, region: &'a Region, inside: Option<usize>, position: &mut usize) {
        for statement in &region.statements {
            let number = *position;
            *position += 1;
            self.define_results(statement, number, inside);
            let is_loop = matches!(statement.op, Op::For { .. } | Op::While { .. });
            for nested in statement.op.regions() {
                let home = if is_loop { Some(number) } else { inside };
                nested.arguments.iter().for_each(|&(value, ty)| self.declare(value, ty, home));
                self.define(nested, home, position);
            }
        }
    }

    fn declare(&mut self, value: Value, ty: Type, home: Option<usize>) {
        if let Some(home) = home {
            self.homes.insert(value, home);
        }
        if ty.bits() < 32 {
            self.narrow.insert(value);
        }
    }

    fn define_results(&mut self, statement: &'a Statement, number: usize, inside: Option<usize>) {
        for &(value, ty) in &statement.results {
            self.declare(value, ty, inside);
            self.origins.insert(value, Origin::Statement(&statement.op));
            if let Op::Constant { bits } = statement.op {
                let unused = 64 - ty.bits().clamp(1, 64);
                self.constants.insert(value, (bits << unused) as i64 >> unused);
            }
        }
        let values = |region: &Region, from: usize| -> Vec<Value> {
            region.arguments.iter().skip(from).map(|&(value, _)| value).collect()
        };
        let (initial, next, arguments, index) = match &statement.op {
            Op::For { carried, body, from, step, .. } => {
                if let Some(&(index, _)) = body.arguments.first() {
                    self.origins.insert(index, Origin::Index(number));
                }
                (&carried[..], body.yielded_values(), values(body, 1), Some((*from, *step)))
            }
            Op::While { carried, body } => {
                (&carried[..], body.yielded_values().get(1..).unwrap_or_default(), values(body, 0), None)
            }
            _ => return,
        };
        for (at, &argument) in arguments.iter().enumerate() {
            self.origins.insert(argument, Origin::Carried(number, at));
        }
        for (at, &value) in next.iter().enumerate() {
            self.nexts.insert(value, (number, at));
        }
        for (at, &(result, _)) in statement.results.iter().enumerate() {
            self.origins.insert(result, Origin::LoopResult(number, at));
        }
        self.loops.insert(number, Loop { parent: inside, initial, next, arguments, index });
    }

    /// Expresses a value as a sum over the iteration numbers of loops.
    pub(super) fn form(&self, value: Value) -> IndexForm {
        self.steps.set(0);
        self.follow(value)
    }

    fn follow(&self, value: Value) -> IndexForm {
        let is_assuming = !self.assumed.borrow().is_empty();
        if !is_assuming && let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        self.steps.set(self.steps.get() + 1);
        let found = if self.steps.get() > MAX_STEPS { None } else { self.follow_origin(value) };
        let found = found.filter(|form| !form.is_long()).unwrap_or_else(|| Atom::Value(value).into());
        if !is_assuming && self.steps.get() <= MAX_STEPS {
            self.known.borrow_mut().insert(value, found.clone());
        }
        found
    }

    fn follow_origin(&self, value: Value) -> Option<IndexForm> {
        if let Some(&constant) = self.constants.get(&value) {
            return Some(IndexForm::constant(constant));
        }
        if self.narrow.contains(&value) {
            return None;
        }
        if let Some(next) = self.nexts.get(&value).and_then(|&(number, at)| self.follow_next(number, at)) {
            return Some(next);
        }
        match *self.origins.get(&value)? {
            Origin::Statement(op) => self.follow_operation(op),
            Origin::Index(number) => {
                let (from, step) = self.loops.get(&number)?.index?;
                let step = self.follow(step).as_constant()?;
                Some(self.follow(from).plus(&IndexForm::from(Atom::Iteration(number)).times(step)))
            }
            Origin::Carried(number, at) => self.follow_carried(number, at),
            Origin::LoopResult(number, at) => {
                let carried = self.follow(*self.loops.get(&number)?.arguments.get(at)?);
                // A carried value that is not a function of the iteration number has another value after the loop.
                self.at_exit(&carried, number)
            }
        }
    }

    fn follow_operation(&self, op: &Op) -> Option<IndexForm> {
        match *op {
            Op::SharedAddress { buffer } => Some(Atom::Buffer(buffer).into()),
            Op::AssumeUniform { value, .. } => Some(self.follow(value)),
            Op::Cast { op: Cast::ExtendS | Cast::ExtendU | Cast::Truncate, a } => {
                // The bits that a truncation drops, and a sign that an extension loses, are zero in an index.
                Some(self.follow(a))
            }
            Op::PtrAdd { pointer, bytes } => Some(self.follow(pointer).plus(&self.follow(bytes))),
            Op::Binary { op, a, b } => self.follow_binary(op, a, b),
            Op::Select { condition, a, b } => self.follow_wrap(condition, a, b),
            _ => None,
        }
    }

    fn follow_binary(&self, op: Binary, a: Value, b: Value) -> Option<IndexForm> {
        let (a, b) = (self.follow(a), self.follow(b));
        let is_natural = |form: &IndexForm| {
            form.range().0.is_some_and(|least| least >= 0) || self.beyond_assumed(form).is_some_and(|more| more >= 0)
        };
        let has_remainder = |form: &IndexForm, divisor: i64| form.is_small() || divisor.count_ones() == 1;
        match (op, a.as_constant(), b.as_constant()) {
            (Binary::Add, ..) => Some(a.plus(&b)),
            (Binary::Sub, ..) => Some(a.minus(&b)),
            (Binary::Mul, _, Some(constant)) => Some(a.times(constant)),
            (Binary::Mul, Some(constant), _) => Some(b.times(constant)),
            (Binary::Shl, _, Some(bits @ 0..32)) => Some(a.times(1 << bits)),
            (Binary::RemS | Binary::RemU, _, Some(divisor @ 1..)) if is_natural(&a) && has_remainder(&a, divisor) => {
                Some(a.remainder(divisor))
            }
            (Binary::And, _, Some(mask @ 1..)) if (mask + 1).count_ones() == 1 => Some(a.remainder(mask + 1)),
            (Binary::Xor, _, Some(mask)) => Some(a.flipped(mask)),
            (Binary::Xor, Some(mask), _) => Some(b.flipped(mask)),
            _ => None,
        }
    }

    /// Expresses a select as a remainder: the select returns a counter, but zero (or the counter less the bound) if the
    /// counter reaches a bound. `None` if it has another form.
    fn follow_wrap(&self, condition: Value, a: Value, b: Value) -> Option<IndexForm> {
        let Origin::Statement(&Op::Compare { op, a: left, b: right }) = *self.origins.get(&condition)? else {
            return None;
        };
        let (left, right) = (self.follow(left), self.follow(right));
        // The compared sum, the bound at which the counter wraps around, and whether it does so if the condition is
        // true.
        let (compared, bound, wraps) = match (op, left.as_constant(), right.as_constant()) {
            (Compare::Eq, _, Some(bound)) => (left, bound, true),
            (Compare::Ne, _, Some(bound)) => (left, bound, false),
            (Compare::LtS | Compare::LtU, _, Some(bound)) => (left, bound, false),
            (Compare::LeS | Compare::LeU, _, Some(bound)) => (left, bound + 1, false),
            (Compare::LeS | Compare::LeU, Some(bound), _) => (right, bound, true),
            (Compare::LtS | Compare::LtU, Some(bound), _) => (right, bound + 1, true),
            _ => return None,
        };
        let (wrapped, counted) = if wraps { (a, b) } else { (b, a) };
        let (wrapped, counted) = (self.follow(wrapped), self.follow(counted));
        let divisor = bound + counted.clone().minus(&compared).as_constant()?;
        let is_zero = wrapped.as_constant() == Some(0);
        let is_reduced = counted.clone().minus(&wrapped).as_constant() == Some(divisor);
        let is_natural = |form: &IndexForm| form.range().0.is_some_and(|least| least >= 0);
        // A comparison for the order, unlike one for equality, also wraps counters beyond the bound.
        let is_ordered = !matches!(op, Compare::Eq | Compare::Ne) && is_natural(&compared);
        let limit = if is_reduced && is_ordered { 2 * divisor - 1 } else { divisor };
        let in_range = is_natural(&counted) && counted.range().1.is_some_and(|most| most <= limit);
        let is_next = self.beyond_assumed(&counted) == Some(1);
        let is_possible = divisor >= 1 && (is_zero || is_reduced) && (in_range || is_next);
        is_possible.then(|| counted.remainder(divisor))
    }

    /// Returns a sum minus the carried value whose next value is being analyzed; `None` if the difference is not
    /// constant. The caller checks that the carried value is in range.
    fn beyond_assumed(&self, form: &IndexForm) -> Option<i64> {
        let carried = *self.assumed.borrow().last()?;
        form.clone().minus(&Atom::Value(carried).into()).as_constant()
    }

    /// Returns `(carried, initial, next)` for the value with the index `at` among those that the loop `number` carries:
    /// the carried value, its initial value, and its next value in terms of the carried value.
    fn recurrence(&self, number: usize, at: usize) -> Option<(IndexForm, IndexForm, IndexForm)> {
        let of_loop = self.loops.get(&number)?;
        let (&carried, &initial, &next) = (of_loop.arguments.get(at)?, of_loop.initial.get(at)?, of_loop.next.get(at)?);
        if self.assumed.borrow().contains(&carried) {
            return None;
        }
        let initial = self.follow(initial);
        self.assumed.borrow_mut().push(carried);
        let next = self.follow(next);
        self.assumed.borrow_mut().pop();
        Some((Atom::Value(carried).into(), initial, next))
    }

    /// Expresses the value with the index `at` among those that the loop `number` carries as a function of the
    /// iteration number, by induction over its next value; `None` if no form is recognized.
    fn follow_carried(&self, number: usize, at: usize) -> Option<IndexForm> {
        let (carried, initial, next) = self.recurrence(number, at)?;
        let iteration: IndexForm = Atom::Iteration(number).into();
        if let Some(step) = next.clone().minus(&carried).as_constant() {
            return Some(initial.plus(&iteration.times(step)));
        }
        if let Some(other) = alternative(&carried, &initial, &next) {
            return Some(initial.plus(&iteration.remainder(2).times(other)));
        }
        if let Some(previous) = self.in_next_iteration(&next, number)
            && self.in_first_iteration(&previous, number).as_ref() == Some(&initial)
        {
            return Some(previous);
        }
        let (step, divisor) = wrapping_step(&carried, &next)?;
        let (least, most) = initial.range();
        let is_wrapped = least? >= 0 && most? < divisor;
        is_wrapped.then(|| initial.plus(&iteration.times(step)).remainder(divisor))
    }

    /// Expresses the next value of a carried value that wraps around, given as in [`Self::follow_carried`], as a
    /// function of the iteration number. The initial value may be negative if one step makes it zero or positive.
    fn follow_next(&self, number: usize, at: usize) -> Option<IndexForm> {
        let (carried, initial, next) = self.recurrence(number, at)?;
        let (step, divisor) = wrapping_step(&carried, &next)?;
        let (least, most) = initial.range();
        let iteration = IndexForm::from(Atom::Iteration(number)).plus(&IndexForm::constant(1));
        let is_wrapped = least? >= -step && most? < divisor;
        is_wrapped.then(|| initial.plus(&iteration.times(step)).remainder(divisor))
    }

    /// Whether the value of an atom may change within the loop `number`: the loop, or a loop inside it, defines it.
    fn is_inside(&self, atom: &Atom, number: usize) -> bool {
        let mut home = match atom {
            Atom::Value(value) => self.homes.get(value).copied(),
            Atom::Iteration(inner) => Some(*inner),
            Atom::IterationCount(inner) => self.loops.get(inner).and_then(|of_loop| of_loop.parent),
            Atom::Buffer(_) | Atom::Remainder(..) | Atom::Flipped(..) => None,
        };
        while let Some(inner) = home {
            if inner == number {
                return true;
            }
            home = self.loops.get(&inner).and_then(|of_loop| of_loop.parent);
        }
        false
    }

    /// Rewrites a sum over one iteration of the loop `number` as the same sum seen from the next iteration. `None` if
    /// it contains values that the loop defines.
    pub(super) fn in_next_iteration(&self, form: &IndexForm, number: usize) -> Option<IndexForm> {
        let before = IndexForm::from(Atom::Iteration(number)).plus(&IndexForm::constant(-1));
        self.rename(form, number, &before)
    }

    /// Returns the value of a sum in the first iteration of the loop `number`; `None` if it contains values that the
    /// loop defines.
    fn in_first_iteration(&self, form: &IndexForm, number: usize) -> Option<IndexForm> {
        self.rename(form, number, &IndexForm::constant(0))
    }

    /// Rewrites a sum at the end of the loop `number` in terms of values after the loop, such as the number of its
    /// iterations. `None` if it contains values that the loop defines.
    pub(super) fn at_exit(&self, form: &IndexForm, number: usize) -> Option<IndexForm> {
        self.rename(form, number, &Atom::IterationCount(number).into())
    }

    fn rename(&self, form: &IndexForm, number: usize, iteration: &IndexForm) -> Option<IndexForm> {
        form.replace(&|atom| match atom {
            Atom::Iteration(inner) if *inner == number => Ok(Some(iteration.clone())),
            _ if self.is_inside(atom, number) => Err(()),
            _ => Ok(None),
        })
    }
}

/// Returns `(step, divisor)` if the next value of a carried value is `(carried + step) mod divisor`; otherwise `None`.
fn wrapping_step(carried: &IndexForm, next: &IndexForm) -> Option<(i64, i64)> {
    let divisor = next.range().1?.checked_add(1).filter(|divisor| (2..=MAX_DIVISOR).contains(divisor))?;
    let sum = |step: i64| carried.clone().plus(&IndexForm::constant(step)).remainder(divisor);
    (1..divisor).find(|&step| sum(step) == *next).map(|step| (step, divisor))
}

/// If a carried value alternates between two numbers, returns the second minus the first (the initial one). The next
/// value must be a constant minus the carried value, or the carried value with bits flipped.
fn alternative(carried: &IndexForm, initial: &IndexForm, next: &IndexForm) -> Option<i64> {
    let initial = initial.as_constant()?;
    let sum = next.clone().plus(carried).as_constant();
    let flipped = || Some(initial ^ next.flipped_bits(carried)?);
    Some(sum.map(|sum| sum - initial).or_else(flipped)? - initial)
}
