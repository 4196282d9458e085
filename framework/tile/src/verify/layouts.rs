//! Checks layout attributes, and types with layouts, by the rules of their families.

use tilewright_layout::FamilySpec;

use super::distributed_layouts::{has_skewed_warps, is_elsewhere};
use super::layout_parameters::{find_layout_bases, is_permutation_matrix};
use super::{CheckResult, LayoutStorage, LayoutThreadCounts, OpContext, SHARED_MEMORY, VerifyRules, ensure};
use crate::{LayoutAttribute, MemDescType, TileType};

/// Number of axes of a layout; `None` if its family has no rules, or its parameters do not determine it.
pub(super) fn rank(spec: &FamilySpec, rules: &VerifyRules) -> Option<usize> {
    rules.find_layout_rules(&spec.name)?.rank(spec, rules)
}

/// Checks a layout attribute and its parents.
///
/// A layout of another dialect than `ttg` is checked only if a rule set lists the dialect as complete.
pub(super) fn check_attribute(layout: &LayoutAttribute, rules: &VerifyRules) -> CheckResult {
    let text = layout.text();
    let dialect = text.strip_prefix('#').and_then(|text| text.split_once('.')).map_or("", |(dialect, _)| dialect);
    let name = layout.spec().name.as_str();
    if !rules.is_complete(dialect) && (dialect != "ttg" || rules.find_layout_rules(name).is_none()) {
        return Ok(());
    }
    if rules.find_layout_rules(name).is_none() {
        let names: Vec<&str> = rules.all_layout_rules().map(|layout| layout.family()).collect();
        return Err(format!("`{text}` is no layout of Triton: expected one of {}", names.join(", ")));
    }
    ensure(name != "shared_linear" || text.contains("}, alignment"), || {
        format!("the layout `{text}`: expected `alignment` behind the bases: `<{{offset = ...}}, alignment = 16>`")
    })?;
    check_spec(layout.spec(), rules).map_err(|message| format!("the layout `{text}`: {message}"))
}

fn check_spec(spec: &FamilySpec, rules: &VerifyRules) -> CheckResult {
    let family = rules.find_layout_rules(&spec.name);
    let known = family.map_or(&[][..], |family| family.parameters());
    let unknown = spec.attributes.keys().find(|key| !known.is_empty() && !known.contains(&key.as_str()));
    if let Some(unknown) = unknown {
        return Err(format!("`{unknown}` is no parameter of `{}`", spec.name));
    }
    if let Some(parent) = spec.parent.as_deref() {
        check_spec(parent, rules)?;
    }
    check_cluster(spec, rules)?;
    family.map_or(Ok(()), |family| family.check(spec, rules))
}

fn check_cluster(spec: &FamilySpec, rules: &VerifyRules) -> CheckResult {
    let Some(bases) = find_layout_bases(spec, "cga_layout") else { return Ok(()) };
    if let Some(rank) = rank(spec, rules) {
        ensure(bases.iter().all(|basis| basis.len() == rank), || {
            format!("a basis of its `CGALayout` does not have {rank} coordinates, one for each axis")
        })?;
    }
    ensure(is_permutation_matrix(&bases), || {
        format!("`CGALayout = {bases:?}`: each basis but zero must move along one axis, by a power of two of its own")
    })
}

impl OpContext<'_> {
    /// The rules of the program.
    pub(super) fn rules(&self) -> &VerifyRules {
        &self.module.rules
    }

    /// Checks the types of the operation's results and block arguments, including the layouts of its operands and
    /// results.
    pub(super) fn layouts(&self) -> CheckResult {
        let arguments = self.operation.regions.iter().flat_map(|region| self.body.blocks(*region).iter());
        let arguments = arguments.flat_map(|block| self.body.arguments(*block).iter());
        let mut defined = self.operation.results.iter().chain(arguments);
        defined.try_for_each(|value| check_type(self.value_type(*value), self.rules()))?;
        self.operation
            .operands
            .iter()
            .chain(&self.operation.results)
            .try_for_each(|value| self.fits(self.value_type(*value)))
    }

    /// Checks that the layout of a type has the lanes, warps and blocks of the module or partition.
    fn fits(&self, ty: &TileType) -> CheckResult {
        if !self.operation.definition.layouts_fit_module {
            return Ok(());
        }
        if let TileType::Memory(memory) = ty {
            return self.fits_cluster(memory);
        }
        let TileType::Tensor(tensor) = ty else { return Ok(()) };
        let Some(layout) = &tensor.layout else { return Ok(()) };
        let family = self.rules().find_layout_rules(&layout.spec().name);
        ensure(!family.is_some_and(|family| is_elsewhere(family.storage())), || {
            format!("`{ty}` is in registers: expected a layout of registers")
        })?;
        let traits = self.operation.definition.traits;
        ensure(traits.elementwise || traits.any_layout || !has_skewed_warps(layout.spec()), || {
            format!("the warps of the layout of `{ty}` move along several axes, which this operation does not support")
        })?;
        let distribution = family.and_then(|family| family.distribution(layout.spec(), self.rules()));
        let Some(distribution) = distribution else { return Ok(()) };
        ensure(distribution.rank == tensor.shape.len(), || {
            format!("`{ty}` has {} axes, and its layout {}", tensor.shape.len(), distribution.rank)
        })?;
        self.fits_module(ty, &distribution)
    }

    fn fits_module(&self, ty: &TileType, distribution: &LayoutThreadCounts) -> CheckResult {
        let context = self.context;
        let sides = [
            ("lanes of a warp", distribution.lanes, context.lanes),
            ("warps", distribution.warps, context.warps_of(self.op)),
            ("blocks", Some(distribution.blocks), Some(context.blocks).filter(|_| context.is_stated)),
        ];
        for (what, has, expected) in sides {
            let (Some(has), Some(expected)) = (has, expected) else { continue };
            ensure(has == expected, || format!("the layout of `{ty}` has {has} {what}: expected {expected}"))?;
        }
        Ok(())
    }

    /// Checks that a layout of memory has the same number of blocks as the module's clusters.
    fn fits_cluster(&self, memory: &MemDescType) -> CheckResult {
        let spec = memory.layout.spec();
        let has = self.rules().find_layout_rules(&spec.name).and_then(|family| family.memory_blocks(spec));
        let Some(has) = has.filter(|_| self.context.is_stated) else { return Ok(()) };
        ensure(has == self.context.blocks, || {
            format!("the layout `{}` has {has} blocks: expected {}", memory.layout.text(), self.context.blocks)
        })
    }
}

/// Checks the type of a value.
pub(super) fn check_type(ty: &TileType, rules: &VerifyRules) -> CheckResult {
    match ty {
        TileType::Pointer(pointer) => {
            ensure(matches!(pointer.pointee, TileType::Integer(..) | TileType::Float(_)), || {
                format!("`{ty}`: expected a pointer to integers or floating-point numbers")
            })
        }
        TileType::Tensor(tensor) => {
            check_type(&tensor.element, rules)?;
            let Some(layout) = &tensor.layout else { return Ok(()) };
            check_attribute(layout, rules)
        }
        TileType::Memory(memory) => {
            check_attribute(&memory.layout, rules)?;
            check_memory(memory, rules).map_err(|message| format!("`{ty}`: {message}"))
        }
        TileType::Foreign(text) => {
            rules.check_text(text).unwrap_or(Ok(())).map_err(|message| format!("`{ty}`: {message}"))
        }
        TileType::Descriptor(descriptor) => {
            descriptor.layout.as_ref().map_or(Ok(()), |layout| check_attribute(layout, rules))
        }
        _ => Ok(()),
    }
}

/// Checks the type of a tensor in memory.
fn check_memory(memory: &MemDescType, rules: &VerifyRules) -> CheckResult {
    let name = memory.layout.spec().name.as_str();
    let space = memory.space.spec().name.as_str();
    let storage_of = |name: &str| rules.find_layout_rules(name).map(|family| family.storage());
    ensure(storage_of(space) == Some(LayoutStorage::Space) || space == "smem", || {
        format!("`{}` is no memory: expected shared memory, `#ttg.shared_memory`, or another one", memory.space.text())
    })?;
    check_allocation(memory, rank(memory.layout.spec(), rules))?;
    match storage_of(name) {
        Some(LayoutStorage::Registers | LayoutStorage::Space) => {
            Err(format!("`{name}` is no layout of a tensor in memory"))
        }
        Some(LayoutStorage::Memory(own)) => {
            ensure(space == own || (own == SHARED_MEMORY && space == "smem"), || {
                format!("`{name}` is a layout of `{own}`, and the tensor is in `{}`", memory.space.text())
            })?;
            if own == SHARED_MEMORY {
                check_shared(memory, rules)?;
            }
            rules.find_layout_rules(name).map_or(Ok(()), |family| family.check_memory(memory, rules))
        }
        Some(LayoutStorage::Any) | None => Ok(()),
    }
}

/// Checks the shape of a tensor in memory, and that its allocation is at least as large along each axis.
///
/// The last `layout_rank` sizes must be powers of two; the axes before them count buffers.
fn check_allocation(memory: &MemDescType, layout_rank: Option<usize>) -> CheckResult {
    let rank = memory.shape.len();
    ensure(rank > 0, || "it has no axis: expected one at least".to_owned())?;
    ensure(memory.shape.iter().all(|size| *size > 0), || "an axis has no element".to_owned())?;
    for sizes in [&memory.shape[..], memory.allocation_shape()] {
        let own = &sizes[sizes.len() - layout_rank.unwrap_or(0).min(sizes.len())..];
        ensure(own.iter().all(|size| size.is_power_of_two()), || format!("{sizes:?}: expected powers of two"))?;
    }
    let Some(allocation) = &memory.allocation else { return Ok(()) };
    ensure(allocation.len() >= rank, || {
        format!("its allocation of {allocation:?} has fewer axes than {:?}", memory.shape)
    })?;
    let inner = &allocation[allocation.len() - rank..];
    ensure(memory.shape.iter().zip(inner).all(|(size, all)| size <= all), || {
        format!("{:?} is larger than its allocation of {allocation:?}", memory.shape)
    })
}

/// Checks the elements and axes of a tensor in shared memory.
fn check_shared(memory: &MemDescType, rules: &VerifyRules) -> CheckResult {
    let bits = memory.element.element_bits();
    ensure(bits.is_none_or(|bits| bits.is_multiple_of(8)), || {
        format!("elements of {} bits: expected a multiple of 8", bits.unwrap_or_default())
    })?;
    let Some(layout_rank) = rank(memory.layout.spec(), rules) else { return Ok(()) };
    let rank = memory.shape.len();
    ensure(rank == layout_rank || rank == layout_rank + 1, || {
        format!("it has {rank} axes, and its layout {layout_rank}: expected as many, or one more for buffers")
    })
}
