//! Factors with scales: `(a * 2^s)`, one scale for so many neighbours along K.
//!
//! **Layout.** A scale is for a block of K, so the tensor of scales is broadcast along the block to the factor's
//! shape. Backwards through reshape and broadcast (seed 000, section 5.2) the factor's layout gives that of the scales
//! ([`grouped`]): K is split into blocks and elements of a block, and what tells elements of a block apart tells no
//! scales apart. Each register of the factor then has its own scale in the register of the same number.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{ElementType, Format};

/// The scales of one factor. In memory they are rows x blocks, row-major: a row for each row of `a` or column of `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Their type.
    pub number: ElementType,
    /// Neighbours along K that share one: a power of two.
    pub block: u64,
    /// Log2 of the least and of the greatest scale, where more is known of them than their type says: factors whose
    /// products with these are all numbers of a narrower type may be multiplied in that.
    pub exponents: Option<[i32; 2]>,
}

impl Scale {
    /// Of a type, one for 32 elements, or for 16 of `ue4m3`: OCP Microscaling Formats, section 5.2; PTX ISA, block
    /// scaling of `mxf4nvf4`. `None` where it is no type of scales.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let number = ElementType::named(name)?;
        match number {
            ElementType::Float(format) if !format.is_signed() => {
                let block = if format.widths()[1] == 0 { 32 } else { 16 };
                Some(Self { number, block, exponents: None })
            }
            _ => None,
        }
    }

    /// Log2 of the block.
    pub(super) fn bits(self) -> u32 {
        self.block.trailing_zeros()
    }

    pub(super) fn format(self) -> Option<Format> {
        match self.number {
            ElementType::Float(format) => Some(format),
            ElementType::Integer { .. } => None,
        }
    }

    /// Whether elements of a type times these scales are numbers of another, NaN aside. Where nothing is known of the
    /// scales, products leave the range of a type with binary32's exponents just where they leave binary32's, but that
    /// subnormal ones may have fewer digits.
    pub(super) fn is_exact(self, element: ElementType, to: ElementType) -> bool {
        let (ElementType::Float(element), Some(scale), ElementType::Float(to)) = (element, self.format(), to) else {
            return false;
        };
        let [_, digits, _] = element.widths();
        let [_, of_scale, _] = scale.widths();
        let [_, held, _] = to.widths();
        // A product of numbers of p and q digits has p + q, and may reach the next power of two.
        let (carry, more) = if of_scale == 0 { (0, 0) } else { (1, of_scale + 1) };
        if digits + more > held {
            return false;
        }
        let known = self.exponents;
        if known.is_none() && to.widths()[0] >= 8 && scale.widths()[0] >= 8 {
            return true;
        }
        let [least, greatest] = known.unwrap_or([scale.least_exponent(), scale.greatest_exponent()]);
        element.greatest_exponent() + greatest + carry <= to.greatest_exponent()
            && element.least_exponent() + least >= to.least_exponent()
    }
}

/// The layout of what groups of 2^`bits` neighbours along K have in common: K split into groups and elements of a
/// group, of which the latter are dropped.
pub(super) fn grouped(factor: &LinearLayout, k_axis: usize, bits: u32) -> Result<LinearLayout, LayoutError> {
    let element = Dim::tensor(2);
    let sizes = [0, 1].map(|axis| factor.out_bits(Dim::tensor(axis)));
    let within = bits.min(sizes[k_axis]);
    let mut split = Vec::with_capacity(3);
    for (axis, &size) in sizes.iter().enumerate() {
        if axis == k_axis {
            split.push((element, 1 << within));
        }
        split.push((Dim::tensor(axis), 1 << if axis == k_axis { size - within } else { size }));
    }
    let ins: Vec<Dim> = factor.ins().dims().collect();
    factor.reshape_outs(&split)?.sublayout(&ins, &[Dim::tensor(0), Dim::tensor(1)])
}

/// The layout in which each register of groups of 2^`bits` neighbours along K is as many, one for each of the group:
/// [`grouped`] gives the layout of the groups again.
pub(super) fn ungrouped(groups: &LinearLayout, k_axis: usize, bits: u32) -> Result<LinearLayout, LayoutError> {
    let [rows, columns] = [Dim::tensor(0), Dim::tensor(1)];
    let within = |dim: Dim| if dim == Dim::tensor(k_axis) { bits } else { 0 };
    let [mut ins, mut outs] = [Space::default(), Space::default()];
    for dim in [rows, columns] {
        outs.push(dim, groups.out_bits(dim) + within(dim))?;
    }
    let at = |column: u64, dim: Dim| groups.outs().coordinate(column, dim) << within(dim);
    let mut all = Vec::new();
    for dim in groups.ins().dims() {
        let own = if dim == Dim::REGISTER { bits } else { 0 };
        ins.push(dim, groups.in_bits(dim) + own)?;
        all.extend((0..own).map(|bit| outs.shift_of(Dim::tensor(k_axis)).map_or(0, |shift| 1 << (shift + bit))));
        let moved = |&column: &u64| at(column, rows) | at(column, columns) << outs.bits_of(rows);
        all.extend(groups.columns_of(dim).iter().map(moved));
    }
    LinearLayout::from_columns(ins, outs, &all)
}

/// The layout of the scales of a factor's elements: rows x blocks.
pub(super) fn layout(factor: &LinearLayout, k_axis: usize, scale: Scale) -> Result<LinearLayout, LayoutError> {
    let blocks = grouped(factor, k_axis, scale.bits())?;
    if k_axis == 1 { Ok(blocks) } else { turned(&blocks) }
}

/// Rows and columns exchanged.
pub(super) fn turned(layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let [first, second, free] = [0, 1, 2].map(Dim::tensor);
    let renamed = layout.rename_out(first, free)?.rename_out(second, first)?.rename_out(free, second)?;
    renamed.transpose_outs(&[first, second])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_exact(element: &str, scale: Scale, to: &str) -> bool {
        let named = |name| ElementType::named(name).expect("a type");
        scale.is_exact(named(element), named(to))
    }

    #[test]
    fn products_with_scales_are_exact_where_all_of_them_are_numbers_of_the_type() {
        let mx = Scale::named("e8m0").expect("a scale");
        for element in ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2"] {
            assert!(is_exact(element, mx, "bf16") && is_exact(element, mx, "f32") && is_exact(element, mx, "tf32"));
            assert!(!is_exact(element, mx, "f16"), "2^127 is no number of f16");
        }
        // 0.5 to 6 times 2^-8 to 2^8 is 2^-9 to 1536.
        let near = Scale { exponents: Some([-8, 8]), ..mx };
        assert!(is_exact("e2m1", near, "f16") && !is_exact("e5m2", near, "f16"));
        assert!(!is_exact("f16", near, "bf16"), "f16 has more digits");
        // Four digits times two are six; times four, eight.
        let nv = Scale::named("ue4m3").expect("a scale");
        assert!(is_exact("e2m1", nv, "f16") && is_exact("e4m3", nv, "bf16") && !is_exact("e4m3", nv, "e4m3"));
        assert!(Scale::named("e4m3").is_none() && Scale::named("s8").is_none());
    }

    /// Against the products themselves.
    #[test]
    fn brute_force_agrees_on_exactness() {
        let of = |name: &str| match ElementType::named(name) {
            Some(ElementType::Float(format)) => (name.to_owned(), format),
            _ => panic!("{name}"),
        };
        let all = |name: &str, bits: u32| -> Vec<f64> {
            let (_, format) = of(name);
            (0..1u64 << bits).map(|bits| format.decode(bits)).filter(|value| value.is_finite()).collect()
        };
        for (scale, range) in
            [("e8m0", [-8, 8]), ("e8m0", [-12, 3]), ("e8m0", [0, 13]), ("e8m0", [0, 14]), ("ue4m3", [-9, 8])]
        {
            let own = Scale { exponents: Some(range), ..Scale::named(scale).expect("a scale") };
            let [least, greatest] = range.map(|exponent: i32| 2f64.powi(exponent));
            let scales: Vec<f64> =
                all(scale, 8).into_iter().filter(|&value| value >= least && value < 2.0 * greatest).collect();
            for (element, bits) in [("e2m1", 4), ("e2m3", 6), ("e3m2", 6), ("e4m3", 8), ("e5m2", 8)] {
                let values = all(element, bits);
                for to in ["f16", "bf16"] {
                    let known: std::collections::BTreeSet<u64> =
                        all(to, 16).iter().map(|value| value.abs().to_bits()).collect();
                    let exact = values
                        .iter()
                        .all(|value| scales.iter().all(|scale| known.contains(&(value * scale).abs().to_bits())));
                    assert!(!is_exact(element, own, to) || exact, "{element} x {scale} {range:?} in {to}");
                    // With whole powers of two nothing is lost but that the greatest number's exponent decides.
                    assert!(
                        is_exact(element, own, to) == exact || scale == "ue4m3",
                        "{element} x {scale} {range:?} in {to}"
                    );
                }
            }
        }
    }
}
