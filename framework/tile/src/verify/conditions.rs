//! The named conditions of rows' key `verify`.

use super::{
    Check, Checked, amd, cache_policy, descriptors, encodings, ensure, listed, mbarriers, memory, nesting,
    tensor_core_dots, tensor_memory,
};
use crate::op::Condition;
use crate::{Attribute, MemDescType, TileType};

/// A condition: checks an operation, with the arguments of the row.
type Rule = fn(&Check<'_>, &[String]) -> Checked;

/// All conditions by name.
const CONDITIONS: &[(&str, Rule)] = &[
    ("same_types", same_types),
    ("same_shape", same_shape),
    ("same_element", same_element),
    ("same_layout", same_layout),
    ("rank", rank),
    ("elements", elements),
    ("at_least", at_least),
    ("at_most", at_most),
    ("one_or_more", one_or_more),
    ("as_many", as_many),
    ("mutable", mutable),
    ("shared_memory", shared_memory),
    ("foreign", foreign),
    ("numbers", numbers),
    ("whole_bytes", whole_bytes),
    ("arithmetic", arithmetic),
    ("power_of_two", power_of_two),
    ("words", words),
    ("cache_policy", cache_policy::cache_policy),
    ("kernel", kernel),
    ("clc_buffer", clc_buffer),
    ("commit", mbarriers::commit),
    ("tensor_memory_target", tensor_memory::target),
    ("buffer_other", amd::buffer_other),
    ("buffer_target", amd::buffer_target),
    ("partitions", nesting::partitions),
    ("outside_partitions", nesting::outside_partitions),
    ("warp_yield", nesting::warp_yield),
    ("cluster", mbarriers::cluster),
    ("barrier", mbarriers::barrier),
    ("arrive", mbarriers::arrive),
    ("cast", cast),
    ("rounding", rounding),
    ("packed", packed),
    ("expand_dims", encodings::expand_dims),
    ("reduce", encodings::reduce),
    ("trans", encodings::trans),
    ("reshape", encodings::reshape),
    ("broadcast", encodings::broadcast),
    ("cat", encodings::cat),
    ("join", encodings::join),
    ("split", encodings::split),
    ("unpacked", encodings::unpacked),
    ("within_warp", encodings::within_warp),
    ("set_auto", encodings::set_auto),
    ("memory_trans", encodings::memory_trans),
    ("memory_reshape", encodings::memory_reshape),
    ("dot", encodings::dot),
    ("copy_of_memory", memory::copy),
    ("alloc", memory::alloc),
    ("memory_index", memory::index),
    ("memory_subslice", memory::subslice),
    ("memory_reinterpret", memory::reinterpret),
    ("gathered", memory::gathered),
    ("block", descriptors::block),
    ("rows", descriptors::rows),
    ("tensor_copy", descriptors::tensor_copy),
    ("tensor_rows", descriptors::tensor_rows),
    ("reduction_kind", descriptors::reduction_kind),
    ("tensor_map", descriptors::tensor_map),
    ("dot_shapes", tensor_core_dots::shapes),
    ("wgmma", tensor_core_dots::wgmma),
    ("mma5", tensor_core_dots::mma5),
    ("dot_scales", tensor_core_dots::scales),
    ("scales_order", tensor_core_dots::scales_order),
    ("blocks", nesting::blocks),
    ("partition_phi", nesting::partition_phi),
    ("names_buffers", nesting::names_buffers),
    ("tmem_alloc", tensor_memory::alloc),
    ("tmem_load", tensor_memory::load),
    ("tmem_store", tensor_memory::store),
    ("tmem_copy", tensor_memory::copy),
    ("tmem_subslice", tensor_memory::subslice),
    ("packed_arith", tensor_memory::packed_arith),
    ("buffer", amd::buffer),
    ("concat", amd::concat),
    ("extract_slice", amd::extract_slice),
    ("in_thread_transpose", amd::in_thread_transpose),
    ("scaled", amd::scaled),
    ("scaled_down", amd::scaled_down),
    ("update_descriptor", amd::update_descriptor),
    ("tdm", amd::tdm),
    ("tdm_fused", amd::tdm_fused),
    ("tdm_rows", amd::tdm_rows),
    ("packed_transposed", amd::packed_transposed),
];

/// Whether there is a condition of this name.
pub(crate) fn is_condition(name: &str) -> bool {
    find(name).is_some()
}

fn find(name: &str) -> Option<Rule> {
    CONDITIONS.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

impl Check<'_> {
    /// Checks the conditions of the operation's row.
    pub(super) fn conditions(&self) -> Checked {
        let definition = std::sync::Arc::clone(&self.operation.definition);
        definition.verify.iter().try_for_each(|condition| match condition {
            Condition::Types(rule) => self.rule(rule),
            Condition::Named { name, arguments } => find(name).map_or(Ok(()), |rule| rule(self, arguments)),
        })
    }

    /// The first type of a group of operands or results.
    pub(super) fn group_type(&self, group: &str) -> Option<&TileType> {
        self.group_types(group).first().copied()
    }

    /// The memory type of the first value of a group.
    pub(super) fn memory_type(&self, group: &str) -> Option<&MemDescType> {
        self.group_type(group).and_then(TileType::as_memory)
    }

    /// The types of several groups.
    fn types_of(&self, groups: &[String]) -> Vec<&TileType> {
        groups.iter().flat_map(|group| self.group_types(group)).collect()
    }

    /// The types of several groups that are tensors.
    fn tensors_of(&self, groups: &[String]) -> Vec<&TileType> {
        self.types_of(groups).into_iter().filter(|ty| ty.shape().is_some()).collect()
    }

    /// Whether the operation has a unit or bool attribute that is set.
    pub(super) fn is_set(&self, name: &str) -> bool {
        matches!(self.operation.attributes.get(name), Some(Attribute::Unit | Attribute::Bool(true)))
    }

    /// The numbers of an array or list attribute.
    pub(super) fn numbers(&self, name: &str) -> Option<Vec<i64>> {
        match self.operation.attributes.get(name)? {
            Attribute::Array(ty, bits) => {
                let number = |bits: &u64| Attribute::of_bits(*bits, ty.clone()).as_integer();
                bits.iter().map(number).collect()
            }
            Attribute::List(items) => items.iter().map(Attribute::as_integer).collect(),
            _ => None,
        }
    }
}

/// All values of the groups have one type.
fn same_types(check: &Check<'_>, groups: &[String]) -> Checked {
    let types = check.types_of(groups);
    ensure(types.windows(2).all(|pair| pair[0] == pair[1]), || format!("{}: expected one type", listed(&types)))
}

/// All tensors of the groups have one shape; scalars are free.
fn same_shape(check: &Check<'_>, groups: &[String]) -> Checked {
    let tensors = check.tensors_of(groups);
    ensure(tensors.windows(2).all(|pair| pair[0].shape() == pair[1].shape()), || {
        format!("{} differ in shape", listed(&tensors))
    })
}

/// All values of the groups have one element type.
fn same_element(check: &Check<'_>, groups: &[String]) -> Checked {
    let types = check.types_of(groups);
    ensure(types.windows(2).all(|pair| pair[0].element() == pair[1].element()), || {
        format!("{} differ in their element type", listed(&types))
    })
}

/// All tensors of the groups have one layout; scalars are free.
fn same_layout(check: &Check<'_>, groups: &[String]) -> Checked {
    let tensors = check.tensors_of(groups);
    ensure(tensors.windows(2).all(|pair| pair[0].layout() == pair[1].layout()), || {
        format!("{} differ in layout", listed(&tensors))
    })
}

/// `rank(group 1 2)`: the tensors of the group have one of these numbers of axes.
fn rank(check: &Check<'_>, arguments: &[String]) -> Checked {
    let Some((group, ranks)) = arguments.split_first() else { return Ok(()) };
    for ty in check.group_types(group) {
        let rank = ty.shape().map_or(0, <[u64]>::len);
        ensure(ranks.iter().any(|known| known.parse::<usize>() == Ok(rank)), || {
            format!("`{group}` is a `{ty}` of {rank} axes: expected {}", ranks.join(" or "))
        })?;
    }
    Ok(())
}

/// `elements(group i16 i32)`: elements of the group are of one of these types.
fn elements(check: &Check<'_>, arguments: &[String]) -> Checked {
    let Some((group, names)) = arguments.split_first() else { return Ok(()) };
    for ty in check.group_types(group) {
        ensure(names.contains(&ty.element().to_string()), || {
            format!("`{group}` is a `{ty}`: expected elements of {}", names.join(", "))
        })?;
    }
    Ok(())
}

fn bound(check: &Check<'_>, arguments: &[String], holds: fn(i64, i64) -> bool, words: &str) -> Checked {
    let [name, limit] = arguments else { return Ok(()) };
    let (Some(value), Ok(limit)) = (check.integer(name), limit.parse::<i64>()) else { return Ok(()) };
    ensure(holds(value, limit), || format!("`{name} = {value}`: expected {words} {limit}"))
}

/// `at_least(count 1)`: an attribute is not below a number.
fn at_least(check: &Check<'_>, arguments: &[String]) -> Checked {
    bound(check, arguments, |value, limit| value >= limit, "at least")
}

/// `at_most(mode 3)`: an attribute is not above a number, nor below zero.
fn at_most(check: &Check<'_>, arguments: &[String]) -> Checked {
    bound(check, arguments, |value, limit| (0..=limit).contains(&value), "a number from 0 to")
}

/// A group has at least one value.
fn one_or_more(check: &Check<'_>, groups: &[String]) -> Checked {
    groups.iter().try_for_each(|group| {
        ensure(!check.group_types(group).is_empty(), || format!("`{group}` has no value: expected at least one"))
    })
}

/// Two groups have as many values as each other, of the same types.
fn as_many(check: &Check<'_>, groups: &[String]) -> Checked {
    let [left, right] = groups else { return Ok(()) };
    let (values, others) = (check.group_types(left), check.group_types(right));
    ensure(values.len() == others.len(), || {
        format!("`{left}` has {} values, and `{right}` {}: expected as many", values.len(), others.len())
    })
}

/// The memory of a group can be written.
fn mutable(check: &Check<'_>, groups: &[String]) -> Checked {
    check.types_of(groups).into_iter().try_for_each(|ty| {
        ensure(ty.as_memory().is_none_or(|memory| memory.mutable), || {
            format!("`{ty}` is written: expected memory that is `mutable`")
        })
    })
}

/// The memory of a group is shared memory.
fn shared_memory(check: &Check<'_>, groups: &[String]) -> Checked {
    check.types_of(groups).into_iter().try_for_each(|ty| {
        let is_other = |memory: &MemDescType| memory.space.spec().name == "tensor_memory";
        ensure(!ty.as_memory().is_some_and(is_other), || format!("`{ty}`: expected a tensor in shared memory"))
    })
}

/// `tt.bitcast`: pointers become pointers of their address space, and numbers keep their width.
fn cast(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(from), Some(to)) = (check.group_type("src"), check.result_type()) else { return Ok(()) };
    match (from.element(), to.element()) {
        (TileType::Pointer(left), TileType::Pointer(right)) => {
            ensure(left.space == right.space && left.constant == right.constant, || {
                format!("`{from}` becomes `{to}`: the address space must stay")
            })
        }
        (TileType::Pointer(_), _) | (_, TileType::Pointer(_)) => {
            Err(format!("`{from}` becomes `{to}`: expected two pointers; `tt.ptr_to_int` and `tt.int_to_ptr` convert"))
        }
        _ => Ok(()),
    }
}

/// `tt.fp_to_fp`: a rounding mode is given if and only if the result is narrower.
fn rounding(check: &Check<'_>, _: &[String]) -> Checked {
    let (Some(from), Some(to)) = (check.group_type("src"), check.result_type()) else { return Ok(()) };
    let is_narrower = from.element_bits() > to.element_bits();
    ensure(!is_narrower || check.operation.attributes.get("rounding").is_some(), || {
        format!("`{from}` becomes the narrower `{to}`: expected `rounding = rtne` or `rounding = rtz`")
    })
}

/// Inline assembly on packed elements: each operand has a multiple of `packed_element`.
fn packed(check: &Check<'_>, _: &[String]) -> Checked {
    let Some(pack) = check.integer("packed_element").map(|pack| u64::from(pack as u32)) else { return Ok(()) };
    let shapes = check.operation.operands.iter().filter_map(|value| check.ty(*value).shape());
    for shape in shapes {
        let count: u64 = shape.iter().product();
        ensure(pack != 0 && count % pack == 0, || {
            format!("{count} elements in groups of `packed_element = {pack}`: expected a multiple")
        })?;
    }
    Ok(())
}

/// The operation is of a function that can be launched.
fn kernel(check: &Check<'_>, _: &[String]) -> Checked {
    ensure(check.context.is_entry, || format!("`@{}` is no kernel: expected a public function", check.function.name))
}

/// A response of cluster launch control: two elements of i64.
fn clc_buffer(check: &Check<'_>, groups: &[String]) -> Checked {
    check.types_of(groups).into_iter().try_for_each(|ty| {
        ensure(ty.shape() == Some(&[2]) && *ty.element() == TileType::integer(64), || {
            format!("`{ty}` is no response of cluster launch control: expected two elements of i64")
        })
    })
}

/// Elements of the groups are numbers or pointers, and not of type `index`.
fn numbers(check: &Check<'_>, groups: &[String]) -> Checked {
    check.types_of(groups).into_iter().try_for_each(|ty| {
        let fits = matches!(ty.element(), TileType::Integer(..) | TileType::Float(_) | TileType::Pointer(_));
        ensure(fits, || format!("`{ty}`: expected integers, floating-point numbers or pointers"))
    })
}

/// Elements of the groups are numbers of MLIR's `arith`: signless integers, floating-point numbers or `index`.
fn arithmetic(check: &Check<'_>, groups: &[String]) -> Checked {
    check.types_of(groups).into_iter().try_for_each(|ty| {
        let fits = matches!(
            ty.element(),
            TileType::Integer(_, crate::Signedness::Signless) | TileType::Float(_) | TileType::Index
        );
        ensure(fits, || format!("`{ty}`: expected signless integers or floating-point numbers"))
    })
}

/// `foreign(group llvm.ptr)`: the type is one of another dialect, of this name.
fn foreign(check: &Check<'_>, arguments: &[String]) -> Checked {
    let [group, name] = arguments else { return Ok(()) };
    check.group_types(group).into_iter().try_for_each(|ty| {
        let prefix = format!("!{name}");
        let fits = matches!(ty, TileType::Foreign(text) if text.starts_with(&prefix));
        ensure(fits, || format!("`{group}` is a `{ty}`: expected a `{prefix}`"))
    })
}

/// Elements of the groups have at least 8 bits.
fn whole_bytes(check: &Check<'_>, groups: &[String]) -> Checked {
    check.types_of(groups).into_iter().try_for_each(|ty| {
        let bits = ty.element_bits().unwrap_or(64);
        ensure(bits >= 8, || format!("`{ty}` has elements of {bits} bits: expected 8 at least"))
    })
}

/// An attribute is a power of two.
fn power_of_two(check: &Check<'_>, names: &[String]) -> Checked {
    names.iter().try_for_each(|name| {
        let value = check.integer(name);
        let fits = value.is_none_or(|value| u64::try_from(value).is_ok_and(u64::is_power_of_two));
        ensure(fits, || format!("`{name} = {}`: expected a power of two", value.unwrap_or_default()))
    })
}

/// `words(kind load store)`: an attribute is one of these words, or several with `|` between them.
fn words(check: &Check<'_>, arguments: &[String]) -> Checked {
    let Some((name, known)) = arguments.split_first() else { return Ok(()) };
    let Some(text) = check.operation.attributes.get(name).and_then(Attribute::as_text) else { return Ok(()) };
    let unknown = text.split('|').map(str::trim).find(|word| !known.iter().any(|known| known == word));
    ensure(unknown.is_none(), || {
        format!("`{name} = {}`: expected one of {}", unknown.unwrap_or_default(), known.join(", "))
    })
}
