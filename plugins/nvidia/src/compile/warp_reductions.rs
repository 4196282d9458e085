//! Replaces reductions of an integer or of `i1` over all lanes of a warp by `redux.sync`. The kernel IR has no
//! operation for them: it has a shuffle and a combining operation for each bit of the lane index, which take about
//! three times as long.

use std::borrow::Cow;
use std::collections::HashMap;

use tilewright_kernel::{Binary, Cast, Compare, Element, Kernel, Module, Op, Region, Statement, Type, Value};

const WORD: Type = Type::Scalar(Element::I32);
const BIT: Type = Type::Scalar(Element::I1);

/// Least compute capability, times ten, that has `redux.sync`.
pub(super) const CAPABILITY: u32 = 80;

/// The bits of a lane index.
const LANES: u32 = 31;

/// A combining operation that `redux.sync` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    /// The suffix of `redux.sync`, such as `add.s32`.
    suffix: &'static str,
    /// Whether the reduced values are of `i1`, which steps extend to words and truncate again.
    is_bit: bool,
    /// Number of uses of a step's value: one in the shuffle, and one in a binary operation or two in a comparison and a
    /// select; one in the extension of an `i1`.
    uses: usize,
}

impl Form {
    fn binary(suffix: &'static str) -> Self {
        Self { suffix, is_bit: false, uses: 2 }
    }

    fn extreme(suffix: &'static str) -> Self {
        Self { suffix, is_bit: false, uses: 3 }
    }

    /// Returns the form of a bitwise operation of `i1`; `None` for other operations.
    fn bitwise(op: Binary) -> Option<Self> {
        let is_bitwise = matches!(op, Binary::And | Binary::Or | Binary::Xor);
        is_bitwise.then_some(Self { suffix: suffix_of(op)?, is_bit: true, uses: 1 })
    }

    /// Returns the assembly and its constraints.
    fn assembly(self) -> (String, &'static str) {
        let suffix = self.suffix;
        if self.is_bit {
            let word = format!("selp.b32 word, 1, 0, $1; redux.sync.{suffix} word, word, -1; setp.ne.b32 $0, word, 0;");
            return (format!("{{ .reg .b32 word; {word} }}"), "=b,b");
        }
        (format!("redux.sync.{suffix} $0, $1, -1;"), "=r,r")
    }
}

/// Definitions of values, and the number of their uses.
struct Definitions<'a> {
    statements: HashMap<Value, &'a Statement>,
    uses: HashMap<Value, usize>,
}

/// Returns the module with `redux.sync` in place of the shuffles of whole reductions.
pub(super) fn fuse(module: &Module) -> Cow<'_, Module> {
    let mut fused = Cow::Borrowed(module);
    for (at, kernel) in module.kernels.iter().enumerate() {
        let found = Definitions::of(kernel).reductions();
        if !found.is_empty() {
            let kernel = &mut fused.to_mut().kernels[at];
            replace(&mut kernel.body, &found);
            loop {
                let uses = count_uses(kernel);
                if !remove_unused(&mut kernel.body, &uses) {
                    break;
                }
            }
        }
    }
    fused
}

impl<'a> Definitions<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        let all = kernel.statements();
        let single = all.iter().filter(|statement| statement.results.len() == 1);
        let statements = single.map(|&statement| (statement.results[0].0, statement)).collect();
        Self { statements, uses: count_uses(kernel) }
    }

    fn op(&self, value: Value) -> Option<&'a Op> {
        self.statements.get(&value).map(|statement| &statement.op)
    }

    /// Returns the value that each reduction over all lanes reduces, and the form, by the reduction's result.
    fn reductions(&self) -> HashMap<Value, (Value, Form)> {
        self.statements.keys().filter_map(|&end| Some((end, self.reduction(end)?))).collect()
    }

    /// Returns the value that a reduction with the result `end` reduces, and the form; `None` if `end` is no such
    /// result, or if intermediate results have other uses.
    fn reduction(&self, end: Value) -> Option<(Value, Form)> {
        let (form, mut value, mut lanes) = self.step(end)?;
        while lanes != LANES {
            let (form_before, before, mask) = self.step(value)?;
            if form_before != form || lanes & mask != 0 || self.uses.get(&value) != Some(&form.uses) {
                return None;
            }
            (value, lanes) = (before, lanes | mask);
        }
        Some((value, form))
    }

    /// Returns the form, the combined value and the lane bit of a step, which combines a value with the value of the lane
    /// whose index differs in this bit. `None` for other values.
    fn step(&self, value: Value) -> Option<(Form, Value, u32)> {
        let statement = self.statements.get(&value)?;
        let (form, [a, b]) = match (&statement.op, statement.results[0].1) {
            (&Op::Binary { op, a, b }, WORD) => (Form::binary(suffix_of(op)?), [a, b]),
            (&Op::Binary { op, a, b }, BIT) => (Form::bitwise(op)?, [a, b]),
            (&Op::Select { condition, a, b }, WORD) => (self.extreme(condition, [a, b])?, [a, b]),
            _ => return None,
        };
        [[a, b], [b, a]].into_iter().find_map(|[own, shuffled]| {
            let uncast = |value: Value| if form.is_bit { self.before_casts(value) } else { [value; 2] };
            let ([own, _], [_, shuffled]) = (uncast(own), uncast(shuffled));
            match *self.op(shuffled)? {
                Op::ShuffleXor { value, mask, .. } if uncast(value)[0] == own && mask.is_power_of_two() => {
                    Some((form, own, mask))
                }
                _ => None,
            }
        })
    }

    /// Follows the casts that keep the lowest bit of an integer; returns the first `i1` and the first value of the
    /// chain.
    fn before_casts(&self, value: Value) -> [Value; 2] {
        let (mut bit, mut first) = (value, value);
        while let Some(Op::Cast { op: Cast::ExtendU | Cast::Truncate, a, .. }) = self.op(first) {
            first = *a;
            bit = if self.statements.get(&first).is_some_and(|one| one.results[0].1 == BIT) { first } else { bit };
        }
        [bit, first]
    }

    /// Returns the form of a select of the less or the greater of two values; `None` for other selects.
    fn extreme(&self, condition: Value, [a, b]: [Value; 2]) -> Option<Form> {
        let Op::Compare { op, a: x, b: y } = *self.op(condition)? else { return None };
        Some(Form::extreme(match (op, [x, y] == [a, b], [x, y] == [b, a]) {
            (Compare::LtS, true, _) => "min.s32",
            (Compare::LtU, true, _) => "min.u32",
            (Compare::LtS, _, true) => "max.s32",
            (Compare::LtU, _, true) => "max.u32",
            _ => return None,
        }))
    }
}

/// Returns the number of uses of each value.
fn count_uses(kernel: &Kernel) -> HashMap<Value, usize> {
    let mut uses = HashMap::new();
    for value in kernel.statements().iter().flat_map(|statement| statement.op.operands()) {
        *uses.entry(value).or_insert(0) += 1;
    }
    uses
}

fn suffix_of(op: Binary) -> Option<&'static str> {
    Some(match op {
        Binary::Add => "add.s32",
        Binary::And => "and.b32",
        Binary::Or => "or.b32",
        Binary::Xor => "xor.b32",
        _ => return None,
    })
}

/// Replaces the last step of each reduction in `found` by `redux.sync`; the other steps become unused.
fn replace(region: &mut Region, found: &HashMap<Value, (Value, Form)>) {
    for statement in &mut region.statements {
        if let [(result, _)] = statement.results[..]
            && let Some(&(value, form)) = found.get(&result)
        {
            let (text, constraints) = form.assembly();
            statement.op = Op::Assembly { text, constraints: constraints.to_owned(), operands: vec![value] };
        }
        statement.op.regions_mut().into_iter().for_each(|nested| replace(nested, found));
    }
}

/// Removes unused operations of the kinds that steps consist of (shuffles, binary operations, comparisons, selects,
/// casts); returns whether there were any.
fn remove_unused(region: &mut Region, uses: &HashMap<Value, usize>) -> bool {
    let before = region.statements.len();
    region.statements.retain(|statement| {
        let is_step = matches!(
            statement.op,
            Op::ShuffleXor { .. } | Op::Binary { .. } | Op::Compare { .. } | Op::Select { .. } | Op::Cast { .. }
        );
        !is_step || statement.results.iter().any(|(value, _)| uses.contains_key(value))
    });
    let is_shorter = region.statements.len() < before;
    let nested = region.statements.iter_mut().flat_map(|statement| statement.op.regions_mut());
    nested.fold(is_shorter, |changed, nested| remove_unused(nested, uses) || changed)
}
