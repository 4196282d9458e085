//! Scaled operands: `a * 2^s`, one scale for each block of consecutive elements along K.
//!
//! **Layout.** The tensor of scales is broadcast along each block to the operand's shape. Backwards through reshape and
//! broadcast (Linear Layouts paper, section 5.2) the operand's layout gives the layout of the scales ([`grouped`]): K
//! is split into blocks and elements of a block, and the dims of the elements are dropped. Each register of the operand
//! then has its own scale in the register of the same index.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{ElementType, FloatFormat};

use super::cast;

/// The scales of one operand. In memory they are rows x blocks, row-major: one row for each row of `a` or column of
/// `b`, and one block for each group of elements along K that share a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockScale {
    /// The element type of the scales.
    pub element_type: ElementType,
    /// Number of elements along K that share a scale: a power of two.
    pub block: u64,
    /// Log2 of the least scale, and log2 of the greatest; `None` if only the type limits the scales. If all products
    /// with these scales are exact in a narrower type, they may be computed in that type.
    pub exponents: Option<[i32; 2]>,
}

impl BlockScale {
    /// Returns the scales of the element type with this name: one for each 32 elements, or for each 16 if the type is
    /// `ue4m3` (OCP Microscaling Formats, section 5.2; PTX ISA, block scaling of `mxf4nvf4`). `None` if the type is not
    /// a type of scales.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let element_type = ElementType::from_name(name)?;
        match element_type {
            ElementType::Float(format) if !format.is_signed() => {
                let block = if format.field_widths()[1] == 0 { 32 } else { 16 };
                Some(Self { element_type, block, exponents: None })
            }
            _ => None,
        }
    }

    /// Log2 of the number of consecutive elements along K that share a scale.
    pub(super) fn bits(self) -> u32 {
        self.block.trailing_zeros()
    }

    pub(super) fn format(self) -> Option<FloatFormat> {
        match self.element_type {
            ElementType::Float(format) => Some(format),
            ElementType::Integer { .. } => None,
        }
    }

    /// Log2 of the least scale; `None` if the scales are integers.
    pub(super) fn min_exponent(self) -> Option<i32> {
        self.exponents.map(|[min, _]| min).or_else(|| Some(self.format()?.min_exponent()))
    }

    /// Whether the product of any element of type `element` and any of these scales is exact in type `to`. If the
    /// scales' range is unknown, a type with the exponent range of binary32 counts as exact: a value overflows it only
    /// if it overflows binary32. Subnormal values may lose digits then.
    ///
    /// A scaled element may be NaN, infinity or negative zero, and types of at most eight bits lack some of the three.
    /// Elements are scaled in binary32, from which the kernel IR casts exactly only to IEEE types of at least 16 bits,
    /// so `to` must be one of these.
    pub(super) fn is_exact(self, element: ElementType, to: ElementType) -> bool {
        let has_cast = cast::kernel_element(to).is_some();
        let (ElementType::Float(element), Some(scale), ElementType::Float(to)) = (element, self.format(), to) else {
            return false;
        };
        if !has_cast {
            return false;
        }
        let [_, digits, _] = element.field_widths();
        let [_, of_scale, _] = scale.field_widths();
        let [_, available, _] = to.field_widths();
        // A product of p-digit and q-digit numbers has p + q digits, and may carry into the next power of two.
        let (carry, more) = if of_scale == 0 { (0, 0) } else { (1, of_scale + 1) };
        if digits + more > available {
            return false;
        }
        let known = self.exponents;
        if known.is_none() && to.field_widths()[0] >= 8 && scale.field_widths()[0] >= 8 {
            return true;
        }
        let [min, max] = known.unwrap_or([scale.min_exponent(), scale.max_exponent()]);
        element.max_exponent() + max + carry <= to.max_exponent() && element.min_exponent() + min >= to.min_exponent()
    }
}

/// Whether some elements of type `element`, times their scales (`None`: not scaled), are subnormal numbers of another
/// type `to`. Scales of unknown range do not count: their products may be subnormal in any type.
pub(super) fn has_subnormals_in(element: ElementType, scale: Option<BlockScale>, to: ElementType) -> bool {
    let (ElementType::Float(from), ElementType::Float(format)) = (element, to) else { return false };
    let least = match scale {
        None => Some(from.min_exponent()),
        Some(scale) => scale.exponents.map(|[min, _]| from.min_exponent() + min),
    };
    element != to && least.is_some_and(|least| f64::from(least).exp2() < format.min_normal())
}

/// Returns the layout of groups of 2^`bits` consecutive elements along K, from the layout of the elements. The axis
/// `k_axis`, along which K runs, is split into the index of the group and the index in the group, and the latter is
/// dropped.
pub(super) fn grouped(operand: &LinearLayout, k_axis: usize, bits: u32) -> Result<LinearLayout, LayoutError> {
    let element = Dim::tensor(2);
    let sizes = [0, 1].map(|axis| operand.out_bits(Dim::tensor(axis)));
    let within = bits.min(sizes[k_axis]);
    let mut split = Vec::with_capacity(3);
    for (axis, &size) in sizes.iter().enumerate() {
        if axis == k_axis {
            split.push((element, 1 << within));
        }
        split.push((Dim::tensor(axis), 1 << if axis == k_axis { size - within } else { size }));
    }
    let ins: Vec<Dim> = operand.ins().dims().collect();
    operand.reshape_outs(&split)?.sublayout(&ins, &[Dim::tensor(0), Dim::tensor(1)])
}

/// Returns the layout of elements from the layout of their groups: each register of a group becomes 2^`bits` registers
/// along K, the axis `k_axis`. This is the inverse of [`grouped`].
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

/// Returns the layout of the scales, rows x blocks, from the layout of the operand's elements, whose axis `k_axis` is
/// K.
pub(super) fn layout(operand: &LinearLayout, k_axis: usize, scale: BlockScale) -> Result<LinearLayout, LayoutError> {
    let blocks = grouped(operand, k_axis, scale.bits())?;
    if k_axis == 1 { Ok(blocks) } else { transposed(&blocks) }
}

/// Returns the layout with rows and columns swapped.
pub(super) fn transposed(layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let [first, second, free] = [0, 1, 2].map(Dim::tensor);
    let renamed = layout.rename_out(first, free)?.rename_out(second, first)?.rename_out(free, second)?;
    renamed.transpose_outs(&[first, second])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_exact(element: &str, scale: BlockScale, to: &str) -> bool {
        let named = |name| ElementType::from_name(name).expect("a type");
        scale.is_exact(named(element), named(to))
    }

    #[test]
    fn products_with_scales_are_exact_where_all_of_them_are_numbers_of_the_type() {
        let mx = BlockScale::from_name("e8m0").expect("a scale");
        for element in ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2"] {
            assert!(is_exact(element, mx, "bf16") && is_exact(element, mx, "f32") && is_exact(element, mx, "tf32"));
            assert!(!is_exact(element, mx, "f16"), "2^127 is not a number of f16");
        }
        // The products range from 0.5 * 2^-8 = 2^-9 to 6 * 2^8 = 1536.
        let near = BlockScale { exponents: Some([-8, 8]), ..mx };
        assert!(is_exact("e2m1", near, "f16") && !is_exact("e5m2", near, "f16"));
        assert!(!is_exact("f16", near, "bf16"), "f16 has more digits");
        // Products with a two-digit element have at most six digits; products with a four-digit element have at most
        // eight.
        let nv = BlockScale::from_name("ue4m3").expect("a scale");
        assert!(is_exact("e2m1", nv, "f16") && is_exact("e4m3", nv, "bf16") && !is_exact("e4m3", nv, "e4m3"));
        assert!(BlockScale::from_name("e4m3").is_none() && BlockScale::from_name("s8").is_none());
    }

    /// Checks exactness against the products of all values with all scales.
    #[test]
    fn brute_force_agrees_on_exactness() {
        let of = |name: &str| match ElementType::from_name(name) {
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
            let own = BlockScale { exponents: Some(range), ..BlockScale::from_name(scale).expect("a scale") };
            let [min, max] = range.map(|exponent: i32| 2f64.powi(exponent));
            let scales: Vec<f64> =
                all(scale, 8).into_iter().filter(|&value| value >= min && value < 2.0 * max).collect();
            for (element, bits) in [("e2m1", 4), ("e2m3", 6), ("e3m2", 6), ("e4m3", 8), ("e5m2", 8)] {
                let values = all(element, bits);
                for to in ["e2m3", "e3m2", "e4m3", "e5m2", "fp8_fnuz", "bf8_fnuz"] {
                    assert!(!is_exact(element, own, to), "{element} x {scale} in {to}, to which binary32 has no cast");
                }
                for to in ["f16", "bf16"] {
                    let known: std::collections::BTreeSet<u64> =
                        all(to, 16).iter().map(|value| value.abs().to_bits()).collect();
                    let exact = values
                        .iter()
                        .all(|value| scales.iter().all(|scale| known.contains(&(value * scale).abs().to_bits())));
                    assert!(!is_exact(element, own, to) || exact, "{element} x {scale} {range:?} in {to}");
                    // For scales that are powers of two the check is exact; for other scales it is conservative, since
                    // it looks at the greatest exponent only.
                    assert!(
                        is_exact(element, own, to) == exact || scale == "ue4m3",
                        "{element} x {scale} {range:?} in {to}"
                    );
                }
            }
        }
    }
}
