//! Defines the rules of the neutral layouts of registers: `blocked`, `slice`, `dot_op`, `linear` and `generic_linear`.

use tilewright_layout::FamilySpec;

use super::layout_parameters::{
    bases_parameter_of_either_name, element_count_of_bases, find_layout_bases, find_layout_integer,
    find_layout_integer_by_names, find_layout_integer_list, is_permutation, is_permutation_matrix, is_power_of_two,
    saturating_product,
};
use super::{
    CheckResult, DotOperandParameters, LayoutFamilyRules, LayoutStorage, LayoutThreadCounts, VerifyRules, ensure,
};

/// The rules about the layouts of registers, one entry for each family.
pub(super) const LAYOUTS: &[&dyn LayoutFamilyRules] = &[&Blocked, &Slice, &DotOp, &Linear, &GenericLinear, &Auto];

/// For each input of a layout, two names of the parameter with its bases: this project's, and Triton's.
const BASES: [[&str; 2]; 4] =
    [["register", "reg_bases"], ["lane", "lane_bases"], ["warp", "warp_bases"], ["block", "block_bases"]];

/// Checks that `order` has each axis once.
pub(super) fn check_order(spec: &FamilySpec) -> CheckResult {
    let Some(order) = find_layout_integer_list(spec, "order") else { return Ok(()) };
    ensure(is_permutation(&order), || {
        format!("`order = {order:?}`: expected each axis from 0 to {} once", order.len().saturating_sub(1))
    })
}

/// The distribution of a layout by the rules of its family; `None` if it has no rules, or if they do not determine it.
fn distribution(spec: &FamilySpec, rules: &VerifyRules) -> Option<LayoutThreadCounts> {
    rules.find_layout_rules(&spec.name)?.distribution(spec, rules)
}

/// The rules of `blocked`: sizes for the elements of a lane, the lanes and the warps along each axis.
#[derive(Debug)]
struct Blocked;

impl LayoutFamilyRules for Blocked {
    fn family(&self) -> &'static str {
        "blocked"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Registers
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["size_per_thread", "threads_per_warp", "warps_per_cta", "order", "cga_layout"]
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        let sizes = [
            ("size_per_thread", "sizePerThread"),
            ("threads_per_warp", "threadsPerWarp"),
            ("warps_per_cta", "warpsPerCTA"),
        ];
        let mut ranks = Vec::new();
        for (name, word) in sizes {
            let Some(sizes) = find_layout_integer_list(spec, name) else {
                return Err(format!("`{word}` must be a list of whole numbers"));
            };
            ensure(sizes.iter().all(|size| is_power_of_two(*size)), || {
                format!("`{word} = {sizes:?}`: expected powers of two")
            })?;
            ranks.push(sizes.len());
        }
        let Some(order) = find_layout_integer_list(spec, "order") else {
            return Err("`order` must be a list of axes".to_owned());
        };
        ensure(ranks.iter().all(|rank| *rank == order.len()), || {
            format!("`order` has {} axes, and the sizes have {ranks:?}: expected as many", order.len())
        })?;
        check_order(spec)
    }

    fn distribution(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<LayoutThreadCounts> {
        Some(LayoutThreadCounts {
            rank: find_layout_integer_list(spec, "order")?.len(),
            lanes: Some(saturating_product(&find_layout_integer_list(spec, "threads_per_warp")?)),
            warps: Some(saturating_product(&find_layout_integer_list(spec, "warps_per_cta")?)),
            blocks: element_count_of_bases(find_layout_bases(spec, "cga_layout").map_or(0, |bases| bases.len())),
        })
    }

    fn check_dot_operand(&self, operand: &DotOperandParameters<'_>) -> CheckResult {
        ensure(operand.k_width == 0, || {
            format!("`kWidth = {}`: operands of a blocked layout have none", operand.k_width)
        })
    }
}

/// The rules of `slice`: the parent layout without one of its axes.
#[derive(Debug)]
struct Slice;

impl LayoutFamilyRules for Slice {
    fn family(&self) -> &'static str {
        "slice"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Registers
    }

    fn check(&self, spec: &FamilySpec, rules: &VerifyRules) -> CheckResult {
        let Some(parent) = spec.parent.as_deref() else { return Err("`parent` is missing".to_owned()) };
        let family = rules.find_layout_rules(&parent.name);
        ensure(!family.is_some_and(|family| is_elsewhere(family.storage())), || {
            format!("its parent `{}` is no layout of registers", parent.name)
        })?;
        let rank = family.and_then(|family| family.rank(parent, rules));
        let (Some(axis), Some(rank)) = (find_layout_integer(spec, "dim"), rank) else { return Ok(()) };
        ensure(rank >= 2, || format!("its parent has {rank} axis: expected two or more"))?;
        ensure(usize::try_from(axis).is_ok_and(|axis| axis < rank), || {
            format!("`dim = {axis}`: its parent has axes 0 to {}", rank - 1)
        })
    }

    fn distribution(&self, spec: &FamilySpec, rules: &VerifyRules) -> Option<LayoutThreadCounts> {
        let parent = distribution(spec.parent.as_deref()?, rules)?;
        Some(LayoutThreadCounts { rank: parent.rank.checked_sub(1)?, ..parent })
    }
}

/// Whether tensors whose layouts have this storage are in memory instead of registers.
pub(super) fn is_elsewhere(storage: LayoutStorage) -> bool {
    matches!(storage, LayoutStorage::Memory(_) | LayoutStorage::Space)
}

/// The rules of `dot_op`: the layout of an operand of a dot whose result has the parent layout.
#[derive(Debug)]
struct DotOp;

impl LayoutFamilyRules for DotOp {
    fn family(&self) -> &'static str {
        "dot_op"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Registers
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["op_idx", "operand_index", "k_width"]
    }

    fn check(&self, spec: &FamilySpec, rules: &VerifyRules) -> CheckResult {
        let index = find_layout_integer_by_names(spec, ["op_idx", "operand_index"]).unwrap_or(0);
        ensure(index == 0 || index == 1, || format!("`opIdx = {index}`: expected 0 for operand A or 1 for B"))?;
        let Some(parent) = spec.parent.as_deref() else { return Err("`parent` is missing".to_owned()) };
        let operand =
            DotOperandParameters { parent, index, k_width: find_layout_integer(spec, "k_width").unwrap_or(0) };
        rules.find_layout_rules(&parent.name).map_or(Ok(()), |family| family.check_dot_operand(&operand))
    }

    fn distribution(&self, spec: &FamilySpec, rules: &VerifyRules) -> Option<LayoutThreadCounts> {
        distribution(spec.parent.as_deref()?, rules)
    }
}

/// The distribution of a layout whose parameters are bases; `None` if it has none.
fn distribution_of_bases(spec: &FamilySpec) -> Option<LayoutThreadCounts> {
    let [registers, lanes, warps, blocks] = BASES.map(|names| bases_parameter_of_either_name(spec, names));
    let rank = [&registers, &lanes, &warps, &blocks].into_iter().flatten().flatten().map(Vec::len).max()?;
    Some(LayoutThreadCounts {
        rank,
        lanes: lanes.map(|bases| element_count_of_bases(bases.len())),
        warps: warps.map(|bases| element_count_of_bases(bases.len())),
        blocks: element_count_of_bases(blocks.map_or(0, |bases| bases.len())),
    })
}

/// The rules of `linear`: the bases of registers, lanes, warps and blocks each move along one axis.
#[derive(Debug)]
struct Linear;

impl LayoutFamilyRules for Linear {
    fn family(&self) -> &'static str {
        "linear"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Registers
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        let mut all = Vec::new();
        for names in BASES {
            if !names.into_iter().any(|name| spec.attributes.contains_key(name)) {
                return Err(format!("the bases of `{}` are missing", names[0]));
            }
            let Some(bases) = bases_parameter_of_either_name(spec, names) else {
                return Err(format!("the bases of `{}` must be a list of lists of whole numbers", names[0]));
            };
            all.extend(bases);
        }
        ensure(is_permutation_matrix(&all), || {
            "each basis but zero must move along one axis, by a power of two of its own".to_owned()
        })
    }

    fn distribution(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<LayoutThreadCounts> {
        distribution_of_bases(spec)
    }
}

/// The rules of `generic_linear`: layouts given by bases, among which those of warps may move along several axes.
#[derive(Debug)]
struct GenericLinear;

impl LayoutFamilyRules for GenericLinear {
    fn family(&self) -> &'static str {
        "generic_linear"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Any
    }

    fn check(&self, spec: &FamilySpec, _: &VerifyRules) -> CheckResult {
        for names in BASES.into_iter().filter(|names| names[0] != "warp") {
            let bases = bases_parameter_of_either_name(spec, names).unwrap_or_default();
            if let Some(skewed) = bases.iter().find(|basis| is_skewed(basis)) {
                return Err(format!("basis {skewed:?} of `{}` moves along several axes: only warps may", names[0]));
            }
        }
        Ok(())
    }

    fn distribution(&self, spec: &FamilySpec, _: &VerifyRules) -> Option<LayoutThreadCounts> {
        distribution_of_bases(spec)
    }
}

/// Whether a basis moves along several axes.
fn is_skewed(basis: &[i64]) -> bool {
    basis.iter().filter(|by| **by != 0).count() > 1
}

/// Whether a warp basis of a `generic_linear` layout, or of one of its parents, moves along several axes.
pub(super) fn has_skewed_warps(spec: &FamilySpec) -> bool {
    let warps =
        (spec.name == "generic_linear").then(|| bases_parameter_of_either_name(spec, ["warp", "warp_bases"])).flatten();
    warps.is_some_and(|warps| warps.iter().any(|basis| is_skewed(basis)))
        || spec.parent.as_deref().is_some_and(has_skewed_warps)
}

/// The rules of `auto_encoding`, which stands for a layout that the compiler chooses.
#[derive(Debug)]
struct Auto;

impl LayoutFamilyRules for Auto {
    fn family(&self) -> &'static str {
        "auto_encoding"
    }

    fn storage(&self) -> LayoutStorage {
        LayoutStorage::Any
    }
}
