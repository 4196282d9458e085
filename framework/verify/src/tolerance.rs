//! Tolerance of an MMA result: the error bound of a sum of products, derived from the rounding of the hardware.
//!
//! Let n products be added in G groups of g to the running sum, and let S be the sum of the products' magnitudes. u is
//! the unit roundoff of the accumulator, p the number of its fraction bits.
//!
//! - A chain of fused multiply-adds, or of multiplications and additions: n roundings, or n + 1 without fusion, each
//!   with an error of u times a value of at most S (Higham, Accuracy and Stability of Numerical Algorithms, section
//!   3.1).
//! - Aligned: each of the g products and the running sum loses less than 2^-F times 2^e, with e the greatest exponent
//!   and F the bits that are kept below it. The result loses less than 2^-p if truncated, half of that if rounded. e is
//!   the exponent of a term before its product is normalised, so 2^e is at most the term's magnitude, unless an operand
//!   is subnormal: it counts as the minimum normal number, so S takes subnormal operands as that. In all G ((g + 1)
//!   2^-F + 2^-p).
//! - Exact: one rounding for each group, G u.
//! - Tree: each product passes log2 g roundings in its group and one for each group, (log2 g + G) u. Products of a
//!   subnormal operand and subnormal partial sums are flushed: 2 n times the minimum normal number. An operand that is
//!   cast must not become subnormal, since the plan selects the type of the cast.
//! - Floored: each of the g products loses less than 2^-F times 2^e, and with interleaving so do two partial sums. When
//!   the running sum is added, the sum of the products loses less than 2^-H (H is `fraction_of_sum`) and the running
//!   sum less than 2^-F; then one rounding follows. In all G ((g + 1) 2^-F + 2^-H + u), or g + 3 for g + 1 with
//!   interleaving; S as for Aligned.
//!
//! Let x be the error of an item divided by S. The tolerance is x / (1 - x) times S, which includes second-order
//! errors. An operand that is a 64-bit integer was rounded once before: one u more. If results are below the normal
//! range, each rounding may have an error of the minimum subnormal number.

use tilewright_plan::mma::{MmaPlan, kernel_ir_has_fma};
use tilewright_plan::movement::PlanContext;
use tilewright_target::{ElementType, FloatFormat, Instruction, MmaNumerics, Summation};

/// The tolerance of an MMA's results.
pub(super) struct Tolerance {
    /// Tolerated error relative to the magnitude of each product.
    relative: f64,
    /// Tolerated absolute error, added once.
    absolute: f64,
    /// How products of subnormal operands are treated.
    subnormals: Subnormals,
    /// The least positive normal numbers of A and B, in the types that the MMA instruction takes.
    min_normal: [f64; 2],
    /// Width in bits of the integers that the accumulator represents exactly at every step of the summation.
    exact_bits: u32,
}

enum Subnormals {
    Kept,
    CountAsNormal,
    Lost,
}

impl Tolerance {
    /// Returns the tolerance of a plan's floating-point results.
    pub(super) fn of(plan: &MmaPlan, context: PlanContext<'_>) -> Self {
        let problem = &plan.problem;
        let [_, fraction, _] = float(problem.accumulator).map_or([0; 3], FloatFormat::field_widths);
        let rounding = MmaRounding::of(plan, context);
        let n = problem.shape[2] as f64;
        let (mut relative, absolute) = (0.0, rounding.roundings(problem.shape[2]) * min_subnormal(problem.accumulator));
        let u = half_of(fraction);
        for operand_type in [problem.a, problem.b] {
            relative += if operand_type.bits() == 64 && !operand_type.is_float() { u } else { 0.0 };
        }
        relative += rounding.relative(problem.shape[2], fraction);
        let summation = rounding.numerics.as_ref().map(|numerics| numerics.summation);
        let (subnormals, lost) = match summation {
            None | Some(Summation::Chain | Summation::Exact { .. }) => (Subnormals::Kept, 0.0),
            Some(Summation::Tree { .. }) => (Subnormals::Lost, 2.0 * n * f64::from(f32::MIN_POSITIVE)),
            Some(_) => (Subnormals::CountAsNormal, relative * f64::from(f32::MIN_POSITIVE)),
        };
        let mut min_normal = rounding.min_normal;
        if summation.is_some_and(Summation::flushes_subnormals) {
            let cast =
                [problem.a, problem.b].into_iter().zip(rounding.element_types).map(|(from, to)| Some(from) != to);
            min_normal.iter_mut().zip(cast).filter(|(_, cast)| *cast).for_each(|(min_normal, _)| *min_normal = 0.0);
        }
        let exact_bits = match summation {
            Some(Summation::Aligned { kept, .. }) => fraction.min(kept),
            _ => fraction,
        };
        let relative = if relative < 1.0 { relative / (1.0 - relative) } else { f64::INFINITY };
        Self { relative, absolute: absolute + lost, subnormals, min_normal, exact_bits: exact_bits + 1 }
    }

    /// Returns the width in bits of the integers for which every partial sum of the accumulation is exact.
    pub(super) fn exact_bits(&self) -> u32 {
        self.exact_bits
    }

    /// Returns the tolerated absolute error of a sum of products; each product is given by its operands from A and from
    /// B.
    pub(super) fn allowed(&self, products: impl Iterator<Item = [f64; 2]>) -> f64 {
        products.map(|operands| self.of_product(operands)).sum::<f64>() + self.absolute
    }

    fn of_product(&self, operands: [f64; 2]) -> f64 {
        let [a, b] = operands.map(f64::abs);
        if a * b == 0.0 {
            return 0.0;
        }
        let [of_a, of_b] = self.min_normal;
        match self.subnormals {
            Subnormals::CountAsNormal => self.relative * a.max(of_a) * b.max(of_b),
            Subnormals::Lost if a < of_a || b < of_b => a * b,
            _ => self.relative * a * b,
        }
    }
}

/// Rounding properties of the hardware that multiplies.
struct MmaRounding {
    /// Numerics of the MMA instruction; `None` for plain multiply-adds.
    numerics: Option<MmaNumerics>,
    /// The element types that the MMA instruction takes for the problem's A and B; `None` for plain multiply-adds.
    element_types: [Option<ElementType>; 2],
    min_normal: [f64; 2],
    /// Whether plain multiply-adds round once (FMA); otherwise the product and the addition are rounded.
    fuses: bool,
    /// K of the MMA instruction's shape; 1 for plain multiply-adds.
    k: u64,
}

impl MmaRounding {
    fn of(plan: &MmaPlan, context: PlanContext<'_>) -> Self {
        let found = plan.instruction().and_then(|name| context.instructions.iter().find(|row| row.name == name));
        let fuses = kernel_ir_has_fma(plan.problem.accumulator);
        let Some(row) = found else {
            return Self { numerics: None, element_types: [None; 2], min_normal: [0.0; 2], fuses, k: 1 };
        };
        let numerics = Some(row.numerics.clone().unwrap_or_default());
        let mut element_types = ["a", "b"].map(|role| operand(row, role));
        if plan.is_transposed() {
            element_types.reverse();
        }
        let k = row.mma_shape().map_or(1, |[_, _, k]| k);
        let min_normal = element_types.map(|operand| operand.and_then(float).map_or(0.0, FloatFormat::min_normal));
        Self { numerics, element_types, min_normal, fuses, k }
    }

    fn groups(&self, k: u64) -> (f64, f64) {
        let group = self.numerics.as_ref().map_or(1, |numerics| numerics.summation.group_size(self.k as u32));
        ((k.max(self.k)).div_ceil(u64::from(group)) as f64, f64::from(group))
    }

    /// Returns the number of roundings that a result of `k` products goes through.
    fn roundings(&self, k: u64) -> f64 {
        let (groups, group) = self.groups(k);
        groups * (group + 1.0)
    }

    /// Returns the error bound relative to the sum of the products' magnitudes (x in the module's comment), for `k`
    /// products and an accumulator with `fraction` fraction bits, if operands were not rounded before.
    fn relative(&self, k: u64, fraction: u32) -> f64 {
        let (groups, group) = self.groups(k);
        let (u, last) = (half_of(fraction), |bits: u32| (-f64::from(bits)).exp2());
        match self.numerics.as_ref().map(|numerics| numerics.summation) {
            None if !self.fuses => (k as f64 + 1.0) * u,
            None | Some(Summation::Chain) => k as f64 * u,
            Some(Summation::Aligned { fraction: cut, kept, .. }) => {
                // Accumulators narrower than binary32 are rounded to nearest, others are truncated.
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
    let operand = row.operands.iter().find(|operand| operand.role() == Some(required))?;
    ElementType::from_name(operand.element()?)
}

fn float(element_type: ElementType) -> Option<FloatFormat> {
    if let ElementType::Float(format) = element_type { Some(format) } else { None }
}

/// Returns the unit roundoff of a floating-point type with this number of fraction bits.
fn half_of(fraction: u32) -> f64 {
    (-f64::from(fraction) - 1.0).exp2()
}

fn min_subnormal(element_type: ElementType) -> f64 {
    float(element_type).map_or(0.0, |format| format.min_normal() * (-f64::from(format.field_widths()[1])).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_target::{Evidence, InstructionKind, Semantics};
    use tilewright_testkit::tensor_rows;

    fn rounding(summation: Option<Summation>, k: u64) -> MmaRounding {
        let numerics = summation.map(|summation| MmaNumerics {
            summation,
            nan_is_all_ones: false,
            evidence: Evidence::Assumed,
            source: String::new(),
        });
        MmaRounding { numerics, element_types: [None; 2], min_normal: [0.0; 2], fuses: true, k }
    }

    /// Checks the table of `docs/dots.md` for 64 products accumulated in binary32. The expected numbers are multiples
    /// of 2^-24.
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
            assert_eq!(rounding(summation, k).relative(64, 23) / ulp, expected, "{summation:?}");
        }
        // 16-bit accumulators are rounded to nearest; for `bf16` plain products are rounded too, before they are added.
        assert_eq!(rounding(Some(aligned), 16).relative(64, 10), 4.0 * (17.0 * 2f64.powi(-25) + 2f64.powi(-11)));
        assert_eq!(MmaRounding { fuses: false, ..rounding(None, 1) }.relative(64, 7), 65.0 * 2f64.powi(-8));
    }

    #[test]
    fn the_mma_determines_the_types_of_operands_in_tensor_memory_too() {
        let a = tensor_rows::tensor("a", "e5m2", 8, &[[1, 0]], &[[0, 1]], [2, 2]);
        let b = tensor_rows::register("b", "f16", &[[1, 0]], &[[0, 1]], [2, 2]);
        let queue = tilewright_kernel::Queue::Mma;
        let row = tensor_rows::row("mma", InstructionKind::Matrix, Semantics::Contract, queue, vec![a, b]);
        let types = ["a", "b", "c"].map(|role| operand(&row, role));
        assert_eq!(types, [ElementType::from_name("e5m2"), ElementType::from_name("f16"), None]);
    }

    #[test]
    fn subnormal_operands_count_as_the_mma_reads_them() {
        let two = |power: i32| 2f64.powi(power);
        let tolerance = |subnormals| Tolerance {
            relative: two(-10),
            absolute: 0.25,
            subnormals,
            min_normal: [two(-14), two(-6)],
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
