//! How far a sum of products may be off the exact one, from how the unit that makes it rounds.
//!
//! Let there be n products, of which g are added to the sum so far at a time, in G groups, and let S be the sum of the
//! products' magnitudes. u is the unit roundoff of the sums, p the bits of their fraction.
//!
//! - A chain of fused multiply-adds, or of multiplications and additions: n roundings, with the latter n + 1, each off by u
//!   of a value of at most S (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
//! - Aligned: each of the g products and the sum so far loses less than 2^-F of two to the greatest exponent e, with F the bits
//!   that are kept below it; the result less than 2^-p where it is cut, half of that where it is rounded. e is that of
//!   a term before its product is normalised, so 2^e is at most the term's magnitude, but where a factor is subnormal: there it
//!   counts as the least normal number. So S is that of magnitudes with subnormal factors taken as that.
//!   In all G ((g + 1) 2^-F + 2^-p).
//! - Exact: one rounding a group, G u.
//! - Tree: each product passes log2 g roundings in its group and one for each group, (log2 g + G) u. A product of
//!   a subnormal factor is lost as a whole, what becomes subnormal on the way too: 2 n times the least normal number.
//! - Floored: each of g products loses less than 2^-F, with interleaving two sums of them as much, beside the sum so far
//!   their sum less than 2^-H and that less than 2^-F, and there is one rounding: G ((g + 1) 2^-F + 2^-H + u),
//!   g + 3 with interleaving; S as where they are aligned.
//!
//! With x that number, errors of errors counted, x / (1 - x) of S is allowed. A factor that is an integer of 64 bits was
//! rounded once before: one u more. Where results are below the normal range each rounding may be off by the
//! least subnormal number.

use tilewright_plan::contract::{Contraction, fuses};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{ElementType, Format, Instruction, Numerics, Operand, Summation};

/// What a result may be off by.
pub(super) struct Tolerance {
    /// Times the magnitude of each product.
    relative: f64,
    /// Added once.
    least: f64,
    /// What happens to products of subnormal factors.
    subnormals: Subnormals,
    /// The least normal numbers of both factors as the unit takes them.
    least_normal: [f64; 2],
    /// Bits of integers that sums have exactly.
    exact_bits: u32,
}

enum Subnormals {
    Kept,
    CountAsNormal,
    Lost,
}

impl Tolerance {
    /// Of a plan's sums of floating-point numbers.
    pub(super) fn of(plan: &Contraction, context: PlanContext<'_>) -> Self {
        let problem = &plan.problem;
        let [_, fraction, _] = float(problem.accumulator).map_or([0; 3], Format::widths);
        let unit = Unit::of(plan, context);
        let n = problem.shape[2] as f64;
        let (mut relative, least) = (0.0, unit.roundings(problem.shape[2]) * least_subnormal(problem.accumulator));
        let u = half_of(fraction);
        for factor in [problem.a, problem.b] {
            relative += if factor.bits() == 64 && !factor.is_float() { u } else { 0.0 };
        }
        relative += unit.relative(problem.shape[2], fraction);
        let summation = unit.numerics.as_ref().map(|numerics| numerics.summation);
        let (subnormals, lost) = match summation {
            None | Some(Summation::Chain | Summation::Exact { .. }) => (Subnormals::Kept, 0.0),
            Some(Summation::Tree { .. }) => (Subnormals::Lost, 2.0 * n * f64::from(f32::MIN_POSITIVE)),
            Some(_) => (Subnormals::CountAsNormal, relative * f64::from(f32::MIN_POSITIVE)),
        };
        let exact_bits = match summation {
            Some(Summation::Aligned { kept, .. }) => fraction.min(kept),
            _ => fraction,
        };
        let relative = if relative < 1.0 { relative / (1.0 - relative) } else { f64::INFINITY };
        Self { relative, least: least + lost, subnormals, least_normal: unit.least_normal, exact_bits: exact_bits + 1 }
    }

    /// Bits of integers up to which every sum on the way is exact.
    pub(super) fn exact_bits(&self) -> u32 {
        self.exact_bits
    }

    /// What a result may be off by that is the sum of these products.
    pub(super) fn allowed(&self, products: impl Iterator<Item = [f64; 2]>) -> f64 {
        products.map(|factors| self.of_product(factors)).sum::<f64>() + self.least
    }

    fn of_product(&self, factors: [f64; 2]) -> f64 {
        let [a, b] = factors.map(f64::abs);
        if a * b == 0.0 {
            return 0.0;
        }
        let [of_a, of_b] = self.least_normal;
        match self.subnormals {
            Subnormals::CountAsNormal => self.relative * a.max(of_a) * b.max(of_b),
            Subnormals::Lost if a < of_a || b < of_b => a * b,
            _ => self.relative * a * b,
        }
    }
}

/// What multiplies.
struct Unit {
    /// Absent for plain multiply-adds.
    numerics: Option<Numerics>,
    least_normal: [f64; 2],
    /// Whether plain multiply-adds round once.
    fuses: bool,
    /// Products along K of one issue.
    k: u64,
}

impl Unit {
    fn of(plan: &Contraction, context: PlanContext<'_>) -> Self {
        let found = plan.row().and_then(|name| context.instructions.iter().find(|row| row.name == name));
        let fuses = fuses(plan.problem.accumulator);
        let Some(row) = found else { return Self { numerics: None, least_normal: [0.0; 2], fuses, k: 1 } };
        let numerics = Some(row.numerics.clone().unwrap_or_default());
        let (a, b) = (operand(row, "a"), operand(row, "b"));
        let k = row.extent().map_or(1, |[_, _, k]| k);
        let least = |operand: Option<ElementType>| operand.and_then(float).map_or(0.0, Format::least_normal);
        let least_normal = if plan.is_transposed() { [least(b), least(a)] } else { [least(a), least(b)] };
        Self { numerics, least_normal, fuses, k }
    }

    fn groups(&self, k: u64) -> (f64, f64) {
        let group = self.numerics.as_ref().map_or(1, |numerics| numerics.summation.group(self.k as u32));
        ((k.max(self.k)).div_ceil(u64::from(group)) as f64, f64::from(group))
    }

    /// Roundings of a result of `k` products.
    fn roundings(&self, k: u64) -> f64 {
        let (groups, group) = self.groups(k);
        groups * (group + 1.0)
    }

    /// The number x of the module's text, but for factors that were rounded before.
    fn relative(&self, k: u64, fraction: u32) -> f64 {
        let (groups, group) = self.groups(k);
        let (u, last) = (half_of(fraction), |bits: u32| (-f64::from(bits)).exp2());
        match self.numerics.as_ref().map(|numerics| numerics.summation) {
            None if !self.fuses => (k as f64 + 1.0) * u,
            None | Some(Summation::Chain) => k as f64 * u,
            Some(Summation::Aligned { fraction: cut, kept, .. }) => {
                // Narrower sums than binary32's are rounded, others cut.
                let result = if fraction == 23 { last(kept) } else { u };
                groups * ((group + 1.0) * last(cut) + result)
            }
            Some(Summation::Exact { .. }) => groups * u,
            Some(Summation::Tree { .. }) => (group.log2() + groups) * u,
            Some(Summation::Floored { fraction: cut, fraction_of_sum, interleaved, .. }) => {
                let cuts = group + if interleaved { 3.0 } else { 1.0 };
                groups * (cuts * last(cut) + last(fraction_of_sum) + u)
            }
        }
    }
}

fn operand(row: &Instruction, required: &str) -> Option<ElementType> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, element, .. } if role == required => ElementType::named(element),
        Operand::Memory(memory) if memory.role == required => ElementType::named(&memory.element),
        _ => None,
    })
}

fn float(number: ElementType) -> Option<Format> {
    if let ElementType::Float(format) = number { Some(format) } else { None }
}

/// The unit roundoff of a type with so many bits of fraction.
fn half_of(fraction: u32) -> f64 {
    (-f64::from(fraction) - 1.0).exp2()
}

fn least_subnormal(number: ElementType) -> f64 {
    float(number).map_or(0.0, |format| format.least_normal() * (-f64::from(format.widths()[1])).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_target::Evidence;

    fn unit(summation: Option<Summation>, k: u64) -> Unit {
        let numerics = summation.map(|summation| Numerics {
            summation,
            nan_is_all_ones: false,
            evidence: Evidence::Assumed,
            source: String::new(),
        });
        Unit { numerics, least_normal: [0.0; 2], fuses: true, k }
    }

    /// The table of `docs/dots.md`, here of 64 products with sums of binary32, in units of 2^-24.
    #[test]
    fn how_far_a_sum_may_be_off_is_as_derived() {
        let ulp = 2f64.powi(-24);
        let aligned = Summation::Aligned { group: 16, fraction: 25, kept: 23 };
        let floored = |group, interleaved| Summation::Floored { group, fraction: 24, fraction_of_sum: 31, interleaved };
        for (summation, k, expected) in [
            (None, 1, 64.0),
            (Some(Summation::Chain), 16, 64.0),
            (Some(aligned), 16, 4.0 * (17.0 / 2.0 + 2.0)),
            (Some(Summation::Exact { group: 4 }), 16, 16.0),
            (Some(Summation::Tree { group: 4 }), 16, 2.0 + 16.0),
            (Some(floored(8, false)), 16, 8.0 * (9.0 + 1.0 / 128.0 + 1.0)),
            (Some(floored(16, true)), 16, 4.0 * (19.0 + 1.0 / 128.0 + 1.0)),
        ] {
            assert_eq!(unit(summation, k).relative(64, 23) / ulp, expected, "{summation:?}");
        }
        // Sums of sixteen bits are rounded to nearest; of bf16 plain products are too, before they are added.
        assert_eq!(unit(Some(aligned), 16).relative(64, 10), 4.0 * (17.0 * 2f64.powi(-25) + 2f64.powi(-11)));
        assert_eq!(Unit { fuses: false, ..unit(None, 1) }.relative(64, 7), 65.0 * 2f64.powi(-8));
    }

    #[test]
    fn subnormal_factors_count_as_the_unit_takes_them() {
        let two = |power: i32| 2f64.powi(power);
        let tolerance = |subnormals| Tolerance {
            relative: two(-10),
            least: 0.25,
            subnormals,
            least_normal: [two(-14), two(-6)],
            exact_bits: 24,
        };
        let products = [[2.0, -3.0], [two(-20), 1.0], [1.0, two(-9)], [0.0, 5.0]];
        let allowed = |subnormals: fn() -> Subnormals| {
            products.map(|product| tolerance(subnormals()).allowed([product].into_iter()) - 0.25)
        };
        let normal = 6.0 * two(-10);
        assert_eq!(allowed(|| Subnormals::Kept), [normal, two(-30), two(-19), 0.0]);
        assert_eq!(allowed(|| Subnormals::CountAsNormal), [normal, two(-24), two(-16), 0.0]);
        assert_eq!(allowed(|| Subnormals::Lost), [normal, two(-20), two(-9), 0.0]);
    }
}
