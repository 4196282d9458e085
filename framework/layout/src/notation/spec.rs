//! Specs for layouts that no family built: the families that take bases, with the layout's bases.

use crate::{Dim, FamilyParameterValue, FamilySpec, Layout, LinearLayout, MemoryLayout};

impl Layout {
    /// Returns a spec that lists this layout's bases: `linear` (`generic_linear` if the layout is not distributed),
    /// `shared_linear` or `padded_shared`. Resolved for the same shape, the spec gives the same map, with all in dims
    /// that its family has. `None` for tensor memory, which has no such family, and for dims that those families do not
    /// have.
    ///
    /// ```
    /// use tilewright_layout::{Families, Layout, families::NeutralFamilies, parse_family_spec};
    /// let blocked = parse_family_spec("#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [4], warpsPerCTA = [1], order = [0]}>")?;
    /// let layout = NeutralFamilies.resolve(&blocked, &[8], &NeutralFamilies)?;
    /// let spec = layout.to_spec().expect("a distributed layout");
    /// assert_eq!(spec.name, "linear");
    /// assert_eq!(NeutralFamilies.resolve(&spec, &[8], &NeutralFamilies)?, layout);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_spec(&self) -> Option<FamilySpec> {
        match self {
            Self::Distributed(linear) => distributed(linear),
            Self::Memory(memory) => in_memory(memory),
            Self::TensorMemory(_) => None,
        }
    }
}

fn distributed(linear: &LinearLayout) -> Option<FamilySpec> {
    let names = [
        (Dim::REGISTER, "reg_bases"),
        (Dim::LANE, "lane_bases"),
        (Dim::WARP, "warp_bases"),
        (Dim::BLOCK, "block_bases"),
    ];
    let family = if linear.is_distributed() { "linear" } else { "generic_linear" };
    of_bases(family, linear, &names)?.with_shape(linear)
}

fn in_memory(memory: &MemoryLayout) -> Option<FamilySpec> {
    let names = [(Dim::OFFSET, "offset_bases"), (Dim::BLOCK, "block_bases")];
    if memory.padding.is_empty() {
        let spec = of_bases("shared_linear", &memory.linear, &names)?;
        return Some(match memory.alignment {
            Some(alignment) => spec.with_parameter("alignment", i64::from(alignment)),
            None => spec,
        });
    }
    let pairs: Option<Vec<_>> =
        memory.padding.iter().map(|padding| numbers(&[padding.interval, padding.padding])).collect();
    let spec = of_bases("padded_shared", &memory.linear, &names)?;
    spec.with_parameter("interval_padding_pairs", FamilyParameterValue::List(pairs?)).with_shape(&memory.linear)
}

/// Returns a spec of the family `family` with the bases of each input dim; `names` are these dims with the names of
/// their parameters. `None` if the layout has other input dims, or its out dims are not the tensor axes in order.
fn of_bases(family: &str, linear: &LinearLayout, names: &[(Dim, &str)]) -> Option<FamilySpec> {
    let axes = (0..linear.outs().len()).map(Dim::tensor);
    let known = linear.ins().dims().all(|dim| names.iter().any(|(name, _)| *name == dim));
    if !known || !linear.outs().dims().eq(axes) {
        return None;
    }
    names.iter().try_fold(FamilySpec::new(family), |spec, (dim, name)| {
        let bases: Option<Vec<_>> = linear.bases_of(*dim).iter().map(|basis| numbers(basis)).collect();
        Some(spec.with_parameter(name, FamilyParameterValue::List(bases?)))
    })
}

impl FamilySpec {
    fn with_shape(self, linear: &LinearLayout) -> Option<Self> {
        let sizes: Option<Vec<u64>> = linear.outs().iter().map(|(_, bits)| 1u64.checked_shl(bits)).collect();
        Some(self.with_parameter("shape", numbers(&sizes?)?))
    }
}

fn numbers(values: &[u64]) -> Option<FamilyParameterValue> {
    values
        .iter()
        .map(|&value| Some(FamilyParameterValue::Int(i64::try_from(value).ok()?)))
        .collect::<Option<_>>()
        .map(FamilyParameterValue::List)
}
