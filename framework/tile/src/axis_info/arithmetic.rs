//! Axis information of sums, differences, products, extrema, choices and comparisons.

use super::apply::{Apply, as_signed_bool};
use super::groups::Groups;
use super::info::{MOST, Steps, power_in};
use super::{AxisInfo, IndexBitStep, IntegerRange};

/// The axis information of both operands of an elementwise operation.
pub(super) struct Operands<'a> {
    pub(super) a: &'a AxisInfo,
    pub(super) b: &'a AxisInfo,
}

impl Operands<'_> {
    /// Returns the steps of the result: for each index bit, `of` computes the step from those of the two operands.
    fn steps(&self, of: impl Fn(IndexBitStep, IndexBitStep) -> IndexBitStep) -> Steps {
        self.a.steps.iter().zip(&self.b.steps).map(|(a, b)| of(*a, *b)).collect()
    }

    /// Returns the steps of a result that may be any function of the two operands: 0 for index bits that change neither
    /// operand, unknown for all others.
    pub(super) fn unmoved(&self) -> Steps {
        self.steps(|a, b| (a == Some(0) && b == Some(0)).then_some(0))
    }

    /// Returns, for `a` and for `b`, a power of two that divides every element for which all index bits with known
    /// `steps` are zero.
    ///
    /// `steps` are those of the result, whose bases are computed from these elements.
    pub(super) fn divisibilities(&self, steps: &Steps) -> (u64, u64) {
        let kept = |bit: usize| steps.get(bit).is_some_and(Option::is_some);
        (self.a.divisibility_with(kept), self.b.divisibility_with(kept))
    }
}

impl Apply<'_> {
    /// Returns the axis information of the elementwise sum of the operands.
    pub(super) fn sum(&self, both: &Operands<'_>) -> AxisInfo {
        let range = both.a.range.corners(both.b.range, self.bits, |a, b| a + b);
        self.moved(both, range, |a, b| a.checked_add(b))
    }

    pub(super) fn difference(&self, both: &Operands<'_>) -> AxisInfo {
        let range = both.a.range.corners(both.b.range, self.bits, |a, b| a - b);
        self.moved(both, range, |a, b| a.checked_sub(b))
    }

    fn moved(&self, both: &Operands<'_>, range: IntegerRange, of: impl Fn(i64, i64) -> Option<i64>) -> AxisInfo {
        let steps = both.steps(|a, b| of(a?, b?));
        let (a, b) = both.divisibilities(&steps);
        self.build(range, a.min(b), steps)
    }

    /// Returns the axis information of a pointer plus a number of elements (not bytes), elementwise for tensors.
    pub(super) fn pointer_sum(&self, pointer: &AxisInfo, elements: &AxisInfo) -> AxisInfo {
        let scaled = elements.steps.iter().map(|step| step.and_then(|step| step.checked_mul(pointer.unit)));
        let steps: Steps = scaled.collect();
        let kept = |bit: usize| steps[bit].is_some();
        let divisibility = elements.divisibility_with(kept).saturating_mul(power_in(pointer.unit)).min(MOST);
        let bytes = AxisInfo { steps: steps.clone(), divisibility, ..elements.clone() };
        self.moved(&Operands { a: pointer, b: &bytes }, pointer.range, |a, b| a.checked_add(b))
    }

    pub(super) fn product(&self, both: &Operands<'_>) -> AxisInfo {
        let range = both.a.range.corners(both.b.range, self.bits, |a, b| a * b);
        let steps = match (both.a.range.constant_value(), both.b.range.constant_value()) {
            (Some(by), _) => both.steps(|_, step| step?.checked_mul(by)),
            (_, Some(by)) => both.steps(|step, _| step?.checked_mul(by)),
            _ => both.unmoved(),
        };
        let (a, b) = both.divisibilities(&steps);
        self.build(range, a.saturating_mul(b), steps)
    }

    /// Returns the axis information of a shift left, which is a product with a power of two.
    pub(super) fn shifted_up(&self, both: &Operands<'_>) -> AxisInfo {
        let least = both.b.range.min.clamp(0, 62);
        if let Some(by) = both.b.range.constant_value().filter(|by| *by == least && least < i64::from(self.bits)) {
            return self.product(&Operands { a: both.a, b: &AxisInfo::constant(1 << by, self.ty) });
        }
        let steps = both.unmoved();
        let divisibility = both.divisibilities(&steps).0.saturating_mul(1 << least);
        self.build(IntegerRange::of_integer_width(self.bits), divisibility, steps)
    }

    /// Returns the axis information of a signed maximum or minimum; `of` computes it for two numbers.
    ///
    /// An index bit that changes both operands by the same amount changes the result by that amount.
    pub(super) fn extreme(&self, both: &Operands<'_>, of: impl Fn(i64, i64) -> i64) -> AxisInfo {
        let (a, b) = (both.a.range, both.b.range);
        let are_apart = (a.max <= b.min || b.max <= a.min) && !a.assumed && !b.assumed;
        if are_apart && a != b {
            return self.kept(if of(a.min, b.min) == a.min && of(a.max, b.max) == a.max { both.a } else { both.b });
        }
        let range = a.derived(b, of(a.min, b.min), of(a.max, b.max));
        let steps = both.steps(|a, b| a.filter(|_| a == b));
        let (a, b) = both.divisibilities(&steps);
        self.build(range, a.min(b), steps)
    }

    /// Returns the axis information of an unsigned maximum or minimum; `of` computes it for two nonnegative numbers.
    ///
    /// Unless both ranges are nonnegative without assumptions, only index bits that change neither operand have known
    /// steps.
    pub(super) fn unsigned_extreme(&self, both: &Operands<'_>, of: impl Fn(i64, i64) -> i64) -> AxisInfo {
        if both.a.range.is_proven_non_negative() && both.b.range.is_proven_non_negative() {
            return self.extreme(both, of);
        }
        let steps = both.unmoved();
        let (a, b) = both.divisibilities(&steps);
        self.build(both.a.range.union(both.b.range), a.min(b), steps)
    }

    /// Returns the axis information of `condition ? a : b`. A scalar condition makes the same choice for all elements.
    pub(super) fn choice(&self, condition: &AxisInfo, both: &Operands<'_>) -> AxisInfo {
        match condition.range.constant_value() {
            Some(0) => return self.kept(both.b),
            Some(_) => return self.kept(both.a),
            None => {}
        }
        let is_scalar = condition.steps.len() != both.a.steps.len();
        let mut steps = both.steps(|a, b| a.filter(|_| a == b));
        for (bit, step) in steps.iter_mut().enumerate() {
            if !is_scalar && condition.steps[bit] != Some(0) {
                *step = None;
            }
        }
        let (a, b) = both.divisibilities(&steps);
        self.build(both.a.range.union(both.b.range), a.min(b), steps)
    }

    /// Returns the axis information of a comparison (`arith.cmpi`) of operands of `operand_bits` bits.
    ///
    /// Elements of one operand that lie between the same two neighbouring multiples of a power of two that divides the
    /// other operand have the same result.
    pub(super) fn comparison(&self, predicate: &str, both: &Operands<'_>, operand_bits: u32) -> AxisInfo {
        if operand_bits == 1 && predicate.starts_with('s') {
            let (a, b) = (as_signed_bool(both.a), as_signed_bool(both.b));
            return self.ordered(predicate, &Operands { a: &a, b: &b });
        }
        self.ordered(predicate, both)
    }

    fn ordered(&self, predicate: &str, both: &Operands<'_>) -> AxisInfo {
        let (a, b) = (both.a, both.b);
        let is_exact = !a.range.assumed && !b.range.assumed;
        let is_unsigned = a.range.is_proven_non_negative() && b.range.is_proven_non_negative();
        if let Some(value) =
            decided(predicate, a.range, b.range).filter(|_| is_exact && may_compare_signed(predicate, is_unsigned))
        {
            return AxisInfo::constant(i64::from(value), self.ty);
        }
        let below = match predicate {
            "slt" | "sge" | "ult" | "uge" => Some((a, b)),
            "sgt" | "sle" | "ugt" | "ule" => Some((b, a)),
            _ => None,
        };
        // If `low` is below `bound`, so is the rest of its group, because the bound is a multiple of the group's size.
        // That holds for unsigned numbers too: a negative number and its group are moved by a multiple of that size.
        let groups = below.map(|(low, bound)| {
            let bound_steps = &bound.steps;
            Groups::find(low, bound.divisibility(), |bit| bound_steps[bit] == Some(0), |_| false)
        });
        let moves_alike = predicate == "eq" || predicate == "ne" || may_compare_signed(predicate, is_unsigned);
        let steps = (0..a.steps.len()).map(|bit| {
            let is_alike = moves_alike && a.steps[bit].is_some() && a.steps[bit] == b.steps[bit];
            let is_unmoved = a.steps[bit] == Some(0) && b.steps[bit] == Some(0);
            (is_alike || is_unmoved || groups.as_ref().is_some_and(|groups| groups.has(bit))).then_some(0)
        });
        self.build(IntegerRange::of_integer_width(1), 1, steps)
    }
}

/// Whether a predicate of `arith.cmpi` may be evaluated on the operands as signed numbers. All predicates may if
/// `is_unsigned`, since then no operand is negative; otherwise all but the unsigned ones (`ult`, ...).
fn may_compare_signed(predicate: &str, is_unsigned: bool) -> bool {
    is_unsigned || !predicate.starts_with('u')
}

/// Returns the result of a comparison if it is the same for every number of range `a` with every number of range `b`;
/// otherwise `None`.
fn decided(predicate: &str, a: IntegerRange, b: IntegerRange) -> Option<bool> {
    let (below, above) = (a.max < b.min, a.min > b.max);
    let (at_most, at_least) = (a.max <= b.min, a.min >= b.max);
    let same = at_most && at_least;
    let pick = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match predicate {
        "eq" => pick(same, below || above),
        "ne" => pick(below || above, same),
        "slt" | "ult" => pick(below, at_least),
        "sle" | "ule" => pick(at_most, above),
        "sgt" | "ugt" => pick(above, at_most),
        "sge" | "uge" => pick(at_least, below),
        _ => None,
    }
}
