//! Lists the neutral rules, and defines those about types and attributes in general.

use super::{
    CheckResult, OpContext, VerifyRule, cache_policy, descriptors, dot_operands, dots, encodings, ensure,
    format_type_list, mbarriers, memory, nesting,
};
use crate::op::VerifyCondition;
use crate::{MemDescType, TileType};

/// All neutral rules.
pub(super) const RULES: &[VerifyRule] = &[
    VerifyRule::new("same_types", same_types),
    VerifyRule::new("same_shape", same_shape),
    VerifyRule::new("same_element", same_element),
    VerifyRule::new("same_layout", same_layout),
    VerifyRule::new("rank", rank),
    VerifyRule::new("elements", elements),
    VerifyRule::new("at_least", at_least),
    VerifyRule::new("at_most", at_most),
    VerifyRule::new("one_or_more", one_or_more),
    VerifyRule::new("as_many", as_many),
    VerifyRule::new("mutable", mutable),
    VerifyRule::new("shared_memory", shared_memory),
    VerifyRule::new("foreign", foreign),
    VerifyRule::new("numbers", numbers),
    VerifyRule::new("whole_bytes", byte_elements),
    VerifyRule::new("arithmetic", arithmetic),
    VerifyRule::new("power_of_two", power_of_two),
    VerifyRule::new("words", words),
    VerifyRule::new("cache_policy", cache_policy::cache_policy),
    VerifyRule::new("kernel", kernel),
    VerifyRule::new("partitions", nesting::partitions),
    VerifyRule::new("outside_partitions", nesting::outside_partitions),
    VerifyRule::new("warp_yield", nesting::warp_yield),
    VerifyRule::new("cluster", mbarriers::cluster),
    VerifyRule::new("barrier", mbarriers::barrier),
    VerifyRule::new("cast", cast),
    VerifyRule::new("rounding", rounding),
    VerifyRule::new("packed", packed),
    VerifyRule::new("expand_dims", encodings::expand_dims),
    VerifyRule::new("reduce", encodings::reduce),
    VerifyRule::new("trans", encodings::trans),
    VerifyRule::new("reshape", encodings::reshape),
    VerifyRule::new("broadcast", encodings::broadcast),
    VerifyRule::new("cat", encodings::cat),
    VerifyRule::new("join", encodings::join),
    VerifyRule::new("split", encodings::split),
    VerifyRule::new("unpacked", encodings::unpacked),
    VerifyRule::new("within_warp", encodings::within_warp),
    VerifyRule::new("set_auto", encodings::set_auto),
    VerifyRule::new("memory_trans", encodings::memory_trans),
    VerifyRule::new("memory_reshape", encodings::memory_reshape),
    VerifyRule::new("dot", dot_operands::dot),
    VerifyRule::new("copy_of_memory", memory::copy),
    VerifyRule::new("alloc", memory::alloc),
    VerifyRule::new("memory_index", memory::index),
    VerifyRule::new("memory_subslice", memory::subslice),
    VerifyRule::new("memory_reinterpret", memory::reinterpret),
    VerifyRule::new("gathered", memory::gathered),
    VerifyRule::new("block", descriptors::block),
    VerifyRule::new("rows", descriptors::rows),
    VerifyRule::new("dot_scales", dots::scales),
    VerifyRule::new("blocks", nesting::blocks),
];

impl OpContext<'_> {
    /// Checks the conditions of the operation's row.
    pub(super) fn conditions(&self) -> CheckResult {
        self.operation.definition.verify.iter().try_for_each(|condition| match condition {
            VerifyCondition::Types(rule) => self.rule(rule),
            VerifyCondition::Named { rule, arguments } => (rule.check)(self, arguments),
        })
    }

    /// The types of the values of several groups, without scalars and tokens: only types that have a shape.
    fn tensors_of(&self, groups: &[String]) -> Vec<&TileType> {
        self.types_of_groups(groups).into_iter().filter(|ty| ty.shape().is_some()).collect()
    }
}

/// Checks that all values of the groups have the same type.
fn same_types(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let types = check.types_of_groups(groups);
    ensure(types.windows(2).all(|pair| pair[0] == pair[1]), || {
        format!("{}: expected one type", format_type_list(&types))
    })
}

/// Checks that all tensors of the groups have the same shape; scalars are not compared.
fn same_shape(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let tensors = check.tensors_of(groups);
    ensure(tensors.windows(2).all(|pair| pair[0].shape() == pair[1].shape()), || {
        format!("{} differ in shape", format_type_list(&tensors))
    })
}

/// Checks that all values of the groups have the same element type; the element type of a scalar is its own type.
fn same_element(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let types = check.types_of_groups(groups);
    ensure(types.windows(2).all(|pair| pair[0].element() == pair[1].element()), || {
        format!("{} differ in their element type", format_type_list(&types))
    })
}

/// Checks that all tensors of the groups have the same layout, or all none; scalars are not compared.
fn same_layout(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let tensors = check.tensors_of(groups);
    ensure(tensors.windows(2).all(|pair| pair[0].layout() == pair[1].layout()), || {
        format!("{} differ in layout", format_type_list(&tensors))
    })
}

/// Checks rule `rank(group 1 2)`: each value of the group has one of these numbers of axes; a scalar has 0.
fn rank(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    let Some((group, ranks)) = arguments.split_first() else { return Ok(()) };
    for ty in check.group_types(group) {
        let rank = ty.shape().map_or(0, <[u64]>::len);
        ensure(ranks.iter().any(|known| known.parse::<usize>() == Ok(rank)), || {
            format!("`{group}` is a `{ty}` of {rank} axes: expected {}", ranks.join(" or "))
        })?;
    }
    Ok(())
}

/// Checks rule `elements(group i16 i32)`: the elements of each value of the group are of one of these types.
fn elements(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    let Some((group, names)) = arguments.split_first() else { return Ok(()) };
    for ty in check.group_types(group) {
        ensure(names.contains(&ty.element().to_string()), || {
            format!("`{group}` is a `{ty}`: expected elements of {}", names.join(", "))
        })?;
    }
    Ok(())
}

fn bound(check: &OpContext<'_>, arguments: &[String], holds: fn(i64, i64) -> bool, words: &str) -> CheckResult {
    let [name, limit] = arguments else { return Ok(()) };
    let (Some(value), Ok(limit)) = (check.integer_attribute(name), limit.parse::<i64>()) else { return Ok(()) };
    ensure(holds(value, limit), || format!("`{name} = {value}`: expected {words} {limit}"))
}

/// Checks rule `at_least(count 1)`: the integer attribute, if present, is not below the number.
fn at_least(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    bound(check, arguments, |value, limit| value >= limit, "at least")
}

/// Checks rule `at_most(mode 3)`: the integer attribute, if present, is not above the number, nor below zero.
fn at_most(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    bound(check, arguments, |value, limit| (0..=limit).contains(&value), "a number from 0 to")
}

/// Checks that each of the groups has at least one value.
fn one_or_more(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    groups.iter().try_for_each(|group| {
        ensure(!check.group_types(group).is_empty(), || format!("`{group}` has no value: expected at least one"))
    })
}

/// Checks that two groups have the same number of values; the types of the values are not compared.
fn as_many(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let [left, right] = groups else { return Ok(()) };
    let (values, others) = (check.group_types(left), check.group_types(right));
    ensure(values.len() == others.len(), || {
        format!("`{left}` has {} values, and `{right}` {}: expected as many", values.len(), others.len())
    })
}

/// Checks that the memory of each group can be written: memory types have `mutable`.
fn mutable(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    check.types_of_groups(groups).into_iter().try_for_each(|ty| {
        ensure(ty.as_memory().is_none_or(|memory| memory.mutable), || {
            format!("`{ty}` is written: expected memory that is `mutable`")
        })
    })
}

/// Checks that each tensor in memory of the groups is in shared memory.
fn shared_memory(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    check.types_of_groups(groups).into_iter().try_for_each(|ty| {
        ensure(ty.as_memory().is_none_or(MemDescType::is_shared), || {
            format!("`{ty}`: expected a tensor in shared memory")
        })
    })
}

/// Checks that `tt.bitcast` turns pointers only into pointers of the same address space, and numbers only into numbers.
fn cast(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(from), Some(to)) = (check.group_type("src"), check.result_type()) else { return Ok(()) };
    match (from.element(), to.element()) {
        (TileType::Pointer(left), TileType::Pointer(right)) => {
            ensure(left.space == right.space, || format!("`{from}` becomes `{to}`: the address space must stay"))
        }
        (TileType::Pointer(_), _) | (_, TileType::Pointer(_)) => {
            Err(format!("`{from}` becomes `{to}`: expected two pointers; `tt.ptr_to_int` and `tt.int_to_ptr` convert"))
        }
        _ => Ok(()),
    }
}

/// Checks that a `tt.fp_to_fp` to a narrower type has a rounding mode.
fn rounding(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(from), Some(to)) = (check.group_type("src"), check.result_type()) else { return Ok(()) };
    let is_narrower = from.element_bits() > to.element_bits();
    ensure(!is_narrower || check.operation.attributes.get("rounding").is_some(), || {
        format!("`{from}` becomes the narrower `{to}`: expected `rounding = rtne` or `rounding = rtz`")
    })
}

/// Checks inline assembly on packed elements: the number of elements of each operand is a multiple of `packed_element`.
fn packed(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let Some(pack) = check.integer_attribute("packed_element").map(|pack| u64::from(pack as u32)) else {
        return Ok(());
    };
    let shapes = check.operation.operands.iter().filter_map(|value| check.value_type(*value).shape());
    for shape in shapes {
        let count: u64 = shape.iter().product();
        ensure(pack != 0 && count.is_multiple_of(pack), || {
            format!("{count} elements in groups of `packed_element = {pack}`: expected a multiple")
        })?;
    }
    Ok(())
}

/// Checks that the operation is in a function that can be launched.
fn kernel(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    ensure(check.context.is_entry, || format!("`@{}` is no kernel: expected a public function", check.function.name))
}

/// Checks that the elements of the groups are numbers or pointers, and not of type `index`.
fn numbers(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    check.types_of_groups(groups).into_iter().try_for_each(|ty| {
        let fits = matches!(ty.element(), TileType::Integer(..) | TileType::Float(_) | TileType::Pointer(_));
        ensure(fits, || format!("`{ty}`: expected integers, floating-point numbers or pointers"))
    })
}

/// Checks that the elements of the groups are numbers of MLIR's dialect `arith`.
///
/// These are signless integers, floating-point numbers and `index`.
fn arithmetic(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    check.types_of_groups(groups).into_iter().try_for_each(|ty| {
        let fits = matches!(
            ty.element(),
            TileType::Integer(_, crate::Signedness::Signless) | TileType::Float(_) | TileType::Index
        );
        ensure(fits, || format!("`{ty}`: expected signless integers or floating-point numbers"))
    })
}

/// Checks rule `foreign(group llvm.ptr)`: each type of the group is a foreign type (kept as text) whose text starts
/// with `!` and this name.
fn foreign(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    let [group, name] = arguments else { return Ok(()) };
    check.group_types(group).into_iter().try_for_each(|ty| {
        let prefix = format!("!{name}");
        let fits = matches!(ty, TileType::Foreign(text) if text.starts_with(&prefix));
        ensure(fits, || format!("`{group}` is a `{ty}`: expected a `{prefix}`"))
    })
}

/// Checks that each element of the groups has at least 8 bits.
fn byte_elements(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    check.types_of_groups(groups).into_iter().try_for_each(|ty| {
        let bits = ty.element_bits().unwrap_or(64);
        ensure(bits >= 8, || format!("`{ty}` has elements of {bits} bits: expected 8 at least"))
    })
}

/// Checks that each of the integer attributes, if present, is a power of two.
fn power_of_two(check: &OpContext<'_>, names: &[String]) -> CheckResult {
    names.iter().try_for_each(|name| {
        let value = check.integer_attribute(name);
        let fits = value.is_none_or(|value| u64::try_from(value).is_ok_and(u64::is_power_of_two));
        ensure(fits, || format!("`{name} = {}`: expected a power of two", value.unwrap_or_default()))
    })
}

/// Checks rule `words(kind load store)`: the attribute is one of these words, or several with `|` between them.
fn words(check: &OpContext<'_>, arguments: &[String]) -> CheckResult {
    let Some((name, known)) = arguments.split_first() else { return Ok(()) };
    let Some(text) = check.text_attribute(name) else { return Ok(()) };
    let unknown = text.split('|').map(str::trim).find(|word| !known.iter().any(|known| known == word));
    ensure(unknown.is_none(), || {
        format!("`{name} = {}`: expected one of {}", unknown.unwrap_or_default(), known.join(", "))
    })
}
