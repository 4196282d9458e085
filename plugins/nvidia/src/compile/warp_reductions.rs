//! Replaces reductions of an integer over all lanes of a warp by `redux.sync`. The kernel IR has no operation for them: it
//! has a shuffle and a combining operation for each bit of the lane index, which take about three times as long.

use std::borrow::Cow;
use std::collections::HashMap;

use tilewright_kernel::{Binary, Compare, Element, Kernel, Module, Op, Region, Statement, Type, Value};

const WORD: Type = Type::Scalar(Element::I32);

/// Least compute capability, times ten, that has `redux.sync`.
pub(super) const CAPABILITY: u32 = 80;

/// The bits of a lane index.
const LANES: u32 = 31;

/// A combining operation that `redux.sync` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    /// The suffix of `redux.sync`, such as `add.s32`.
    suffix: &'static str,
    /// Number of uses of a step's value: one in the shuffle, and one in a binary operation or two in a comparison and a
    /// select.
    uses: usize,
}

impl Form {
    fn binary(suffix: &'static str) -> Self {
        Self { suffix, uses: 2 }
    }

    fn extreme(suffix: &'static str) -> Self {
        Self { suffix, uses: 3 }
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
        let statement = self.statements.get(&value).filter(|statement| statement.results[0].1 == WORD)?;
        let (form, [a, b]) = match statement.op {
            Op::Binary { op, a, b } => (Form::binary(suffix_of(op)?), [a, b]),
            Op::Select { condition, a, b } => (self.extreme(condition, [a, b])?, [a, b]),
            _ => return None,
        };
        [[a, b], [b, a]].into_iter().find_map(|[own, shuffled]| match *self.op(shuffled)? {
            Op::ShuffleXor { value, mask, .. } if value == own && mask.is_power_of_two() => Some((form, own, mask)),
            _ => None,
        })
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
            let text = format!("redux.sync.{} $0, $1, -1;", form.suffix);
            statement.op = Op::Assembly { text, constraints: "=r,r".to_owned(), operands: vec![value] };
        }
        statement.op.regions_mut().into_iter().for_each(|nested| replace(nested, found));
    }
}

/// Removes unused operations of the kinds that steps consist of (shuffles, binary operations, comparisons, selects);
/// returns whether there were any.
fn remove_unused(region: &mut Region, uses: &HashMap<Value, usize>) -> bool {
    let before = region.statements.len();
    region.statements.retain(|statement| {
        let is_step =
            matches!(statement.op, Op::ShuffleXor { .. } | Op::Binary { .. } | Op::Compare { .. } | Op::Select { .. });
        !is_step || statement.results.iter().any(|(value, _)| uses.contains_key(value))
    });
    let is_shorter = region.statements.len() < before;
    let nested = region.statements.iter_mut().flat_map(|statement| statement.op.regions_mut());
    nested.fold(is_shorter, |changed, nested| remove_unused(nested, uses) || changed)
}
