//! Defines the rules of dots on tensor cores (`wgmma`, `tcgen05.mma`) and of their operands' scales.

use tilewright_layout::FamilyParameterValue;
use tilewright_tile::rules::{
    CheckResult, OpContext, VerifyRule, ensure, find_layout_bases, find_layout_integer, read_layout_bool_parameter,
};
use tilewright_tile::{FloatType, LayoutAttribute, MemDescType, TileType};

use super::shared_layouts::is_fp4_padded;
use super::tensor_memory_layouts::{MATRIX, SCALES};

/// The rules for `ttng`'s dots, by the names that dialect files use.
pub(super) const RULES: [VerifyRule; 5] = [
    VerifyRule::new("dot_shapes", shapes),
    VerifyRule::new("mma_v2", mma_v2),
    VerifyRule::new("wgmma", wgmma),
    VerifyRule::new("mma5", mma5),
    VerifyRule::new("scales_order", scales_order),
];

fn shape<'c>(check: &OpContext<'c>, group: &str) -> &'c [u64] {
    check.group_type(group).and_then(TileType::shape).unwrap_or_default()
}

/// Returns the shape of operand A (`side` 0) or B (1) in elements. Elements of type `e2m1` lie in pairs in a byte:
/// along the contiguous axis of a layout `nvmma_shared`, or along K if the operand has another layout.
fn shape_in_elements(check: &OpContext<'_>, group: &str, side: usize) -> Vec<u64> {
    let mut shape = shape(check, group).to_vec();
    if check.text_attribute(["a_type", "b_type"][side]) == Some("e2m1") {
        let layout = check.group_type(group).and_then(TileType::layout).map(LayoutAttribute::spec);
        let nvmma = layout.filter(|spec| spec.name == "nvmma_shared");
        // K is the last axis of A, and the last but one of B.
        let from_last = nvmma.map_or(side, |spec| usize::from(read_layout_bool_parameter(spec, "transposed")));
        if let Some(size) = shape.iter_mut().rev().nth(from_last) {
            *size = size.saturating_mul(2);
        }
    }
    shape
}

/// Rule `dot_shapes(a b d)`: checks that the groups have the shapes [M, K], [K, N] and [M, N] of a dot, in elements. A
/// batch axis may come first; it is compared for `a` and `d`.
fn shapes(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let [a, b, d] = groups else { return Ok(()) };
    let (a, b, d) = (shape_in_elements(check, a, 0), shape_in_elements(check, b, 1), shape(check, d));
    let rank = a.len();
    ensure(rank == b.len() && rank == d.len() && (rank == 2 || rank == 3), || {
        format!("a dot of {a:?} and {b:?} to {d:?}: expected two axes each, or three")
    })?;
    let (k, other) = (a[rank - 1], b[rank - 2]);
    ensure(k == other, || format!("a dot of {a:?} and {b:?}: K is {k} and {other}, and must be one"))?;
    ensure(a[rank - 2] == d[rank - 2] && b[rank - 1] == d[rank - 1] && a[..rank - 2] == d[..rank - 2], || {
        format!("a dot of {a:?} and {b:?} does not give {d:?}")
    })
}

fn family(layout: Option<&LayoutAttribute>) -> &str {
    layout.map_or("no layout", |layout| layout.spec().name.as_str())
}

/// Rule `mma_v2(a b d)`: checks that the result has the layout of `mma.sync`, and that it is the parent of the
/// operands' layouts.
fn mma_v2(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let [a, b, d] = groups else { return Ok(()) };
    let layout = |group: &String| check.group_type(group).and_then(TileType::layout);
    let result = layout(d);
    let version = result.and_then(|layout| find_layout_integer(layout.spec(), "version_major"));
    ensure(family(result) == "nvidia_mma" && version == Some(2), || {
        format!("the result has the layout `{}`: expected `#ttg.nvidia_mma` of version 2", family(result))
    })?;
    [a, b].into_iter().try_for_each(|group| {
        let parent = layout(group).and_then(|layout| layout.spec().parent.as_deref());
        ensure(parent == result.map(LayoutAttribute::spec), || {
            format!("operand `{group}` has the layout `{}`: expected `dot_op` of the result's", family(layout(group)))
        })
    })
}

/// Rule `wgmma` of `ttng.warp_group_dot`: checks that `wgmma` supports the operands' layouts, element types and result
/// shape, where M must be a multiple of 64 and N of 8.
fn wgmma(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(a), Some(b)) = (check.group_type("a"), check.group_type("b")) else { return Ok(()) };
    let Some(d) = check.group_type("d") else { return Ok(()) };
    let version = d.layout().and_then(|layout| find_layout_integer(layout.spec(), "version_major"));
    ensure(family(d.layout()) == "nvidia_mma" && version == Some(3), || {
        format!("the result is a `{d}`: expected the layout `#ttg.nvidia_mma` of version 3")
    })?;
    let of_a = family(a.layout());
    ensure(["nvmma_shared", "dot_op", "dot_operand", "shared_linear"].contains(&of_a), || {
        format!("operand A has the layout `{of_a}`: expected `nvmma_shared` or `dot_op`")
    })?;
    let of_b = family(b.layout());
    ensure(["nvmma_shared", "shared_linear"].contains(&of_b), || {
        format!("operand B has the layout `{of_b}`: expected `nvmma_shared`")
    })?;
    let shape = d.shape().unwrap_or_default();
    if let [.., rows, columns] = shape {
        ensure(rows % 64 == 0, || format!("a result of {rows} rows: expected a multiple of 64"))?;
        ensure(columns % 8 == 0, || format!("a result of {columns} columns: expected a multiple of 8"))?;
    }
    check_elements(check, a, b, d)
}

/// Checks that `wgmma` supports the element types. A and B must have elements of the same width, and 8-bit floats with
/// 32-bit results need `maxNumImpreciseAcc` of at least 32. If A is in registers, its `kWidth` must be 32 bits of
/// elements.
fn check_elements(check: &OpContext<'_>, a: &TileType, b: &TileType, d: &TileType) -> CheckResult {
    if let (Some(layout), Some(bits)) = (a.as_tensor().and_then(|a| a.layout.as_ref()), a.element_bits())
        && let Some(width) = find_layout_integer(layout.spec(), "k_width")
    {
        let expected = i64::from(32 / bits.max(1));
        ensure(width == expected, || {
            format!("operand A has `kWidth = {width}`: expected {expected}, 32 bits of `{}`", a.element())
        })?;
    }
    ensure(a.element_bits() == b.element_bits(), || {
        format!("elements of `{}` and `{}` differ in width: expected operands of one width", a.element(), b.element())
    })?;
    let is_narrow = a.element_bits() == Some(8) && matches!(a.element(), TileType::Float(_));
    let imprecise = check.integer_attribute("maxNumImpreciseAcc").unwrap_or(0);
    ensure(!is_narrow || d.element_bits() != Some(32) || imprecise >= 32, || {
        format!(
            "`{}` into `{}` with `maxNumImpreciseAcc = {imprecise}`: expected 32 at least",
            a.element(),
            d.element()
        )
    })
}

/// Returns the modifier `.kind` of the `tcgen05.mma` that multiplies elements of this type; `None` if there is none.
fn kind(element: &TileType) -> Option<&'static str> {
    match element.to_string().as_str() {
        "f16" | "bf16" => Some("f16"),
        "f32" => Some("tf32"),
        "f8E4M3FN" | "f8E5M2" | "f6E2M3FN" | "f6E3M2FN" | "f4E2M1FN" => Some("f8f6f4"),
        "i8" => Some("i8"),
        _ => None,
    }
}

/// Rules `mma5` (of `ttng.tc_gen5_mma`) and `mma5(scaled)` (of `ttng.tc_gen5_mma_scaled`): check that `tcgen05.mma`
/// supports the layouts and element types. Without scales, they also check the operands' layouts and how the blocks of
/// a cluster divide the matrices.
fn mma5(check: &OpContext<'_>, groups: &[String]) -> CheckResult {
    let is_scaled = groups.first().is_some_and(|word| word == "scaled");
    ensure(check.is_attribute_set("is_async") || check.group_types("barriers").is_empty(), || {
        "it arrives at an mbarrier and is synchronous: expected `is_async`".to_owned()
    })?;
    let memory = |group: &str| check.memory_type(group);
    let (Some(a), Some(b), Some(d)) = (memory("a"), memory("b"), memory("d")) else { return Ok(()) };
    if is_scaled {
        check_scaled_types(check, a, d)?;
    } else {
        check_types(a, b, d)?;
        check_operand_layouts(a, b)?;
    }
    check_accumulator_layout(d, is_scaled)?;
    let spec = d.layout.spec();
    ensure(find_layout_integer(spec, "block_n").unwrap_or(0) <= 256, || {
        "`blockN` of the accumulator is above 256 columns".to_owned()
    })?;
    ensure(!is_scaled || find_layout_integer(spec, "block_m") != Some(64), || {
        "`blockM = 64`: expected 128 rows in scaled dots".to_owned()
    })?;
    if is_scaled { Ok(()) } else { check_blocks(check, a, b, d) }
}

/// Checks that `tcgen05.mma` without scales supports the operands' layouts: A must be in shared or tensor memory, with
/// one element in each 32-bit column there, and B in shared memory.
fn check_operand_layouts(a: &MemDescType, b: &MemDescType) -> CheckResult {
    let name = |memory: &MemDescType| memory.layout.spec().name.clone();
    ensure(["nvmma_shared", "shared_linear", MATRIX].contains(&name(a).as_str()), || {
        format!("operand A has the layout `{}`: expected `nvmma_shared` or one of tensor memory", a.layout.text())
    })?;
    ensure(["nvmma_shared", "shared_linear"].contains(&name(b).as_str()), || {
        format!("operand B has the layout `{}`: expected `nvmma_shared`", b.layout.text())
    })?;
    let stride = column_stride(a);
    ensure(name(a) != MATRIX || stride == 1, || format!("operand A has `colStride = {stride}`: expected 1"))
}

fn column_stride(memory: &MemDescType) -> i64 {
    find_layout_integer(memory.layout.spec(), "col_stride").unwrap_or(1)
}

/// Checks that the accumulator is in tensor memory. Without scales, each element must have a 32-bit column.
fn check_accumulator_layout(d: &MemDescType, is_scaled: bool) -> CheckResult {
    ensure(d.layout.spec().name == MATRIX, || {
        format!("the accumulator has the layout `{}`: expected one of tensor memory", d.layout.text())
    })?;
    let (bits, stride) = (i64::from(d.element.element_bits().unwrap_or(32)), column_stride(d));
    ensure(is_scaled || bits == 0 || stride == 32 / bits, || {
        let expected = 32 / bits.max(1);
        format!("the accumulator has `colStride = {stride}`: expected {expected}, 32 bits for `{}`", d.element)
    })
}

/// Checks the element types of a scaled dot: A and B must have types of one kind (16 bits, or at most eight).
fn check_scaled_types(check: &OpContext<'_>, a: &MemDescType, d: &MemDescType) -> CheckResult {
    let accumulator = d.element.to_string();
    ensure(["f16", "f32"].contains(&accumulator.as_str()), || {
        format!("the accumulator is of `{accumulator}`: expected f16 or f32")
    })?;
    let (Some(left), Some(right)) = (check.text_attribute("a_type"), check.text_attribute("b_type")) else {
        return Ok(());
    };
    let is_wide = |word: &str| ["bf16", "fp16"].contains(&word);
    ensure(is_wide(left) == is_wide(right), || {
        format!("operands of `{left}` and `{right}` are of different kinds: expected one")
    })?;
    if a.layout.spec().name == MATRIX { check_scaled_operand(a, left, right) } else { Ok(()) }
}

/// Checks an operand A of a scaled dot that is in tensor memory: it must be of 8-bit floats, or of `e2m1` in bytes,
/// with padding (`fp4Padded`) if and only if B is of 8-bit floats.
fn check_scaled_operand(a: &MemDescType, left: &str, right: &str) -> CheckResult {
    let (element, is_padded) = (a.element.to_string(), is_fp4_padded(a.layout.spec()));
    let expected: &[&str] = match left {
        "e2m1" => &["i8"],
        "e4m3" | "e5m2" => &["f8E4M3FN", "f8E5M2"],
        _ => return Err(format!("operand A of `{left}` is in tensor memory: expected e2m1, e4m3 or e5m2")),
    };
    ensure(expected.contains(&element.as_str()), || {
        format!("operand A of `{left}` is in tensor memory as `{element}`: expected {}", expected.join(" or "))
    })?;
    let needs_padding = ["e4m3", "e5m2"].contains(&right);
    ensure(left != "e2m1" || is_padded == needs_padding, || {
        let expected = if needs_padding { "with" } else { "without" };
        format!(
            "operand A of `e2m1` is in tensor memory, and B is of `{right}`: expected a layout {expected} `fp4Padded`"
        )
    })
}

/// Checks that `tcgen05.mma` without scales can multiply elements of A's and B's types and add to the accumulator's
/// type.
fn check_types(a: &MemDescType, b: &MemDescType, d: &MemDescType) -> CheckResult {
    let accumulator = d.element.to_string();
    for (side, memory) in [("A", a), ("B", b)] {
        ensure(kind(&memory.element).is_some(), || {
            format!("operand {side} is of `{}`, which `tcgen05.mma` does not multiply", memory.element)
        })?;
    }
    let kinds = (kind(&a.element), kind(&b.element));
    ensure(kinds.0 == kinds.1, || {
        format!("operands of `{}` and `{}` are of different kinds: expected one", a.element, b.element)
    })?;
    let is_half = a.element.to_string() == "f16" && b.element.to_string() == "f16";
    let expected: &[&str] = match kinds.0 {
        Some("f16") if is_half => &["f16", "f32"],
        Some("f8f6f4") => &["f16", "f32"],
        Some("i8") => &["i32"],
        _ => &["f32"],
    };
    ensure(expected.contains(&accumulator.as_str()), || {
        format!(
            "operands of `{}` and `{}` into `{accumulator}`: expected {}",
            a.element,
            b.element,
            expected.join(" or ")
        )
    })
}

/// Checks that the blocks of a cluster divide A along M only, B along N only, and the accumulator along both. Basis i
/// of each `CGALayout` is the step of bit i of the block index.
fn check_blocks(check: &OpContext<'_>, a: &MemDescType, b: &MemDescType, d: &MemDescType) -> CheckResult {
    let of = |memory: &MemDescType| find_layout_bases(memory.layout.spec(), "cga_layout").unwrap_or_default();
    let (left, right, result) = (of(a), of(b), of(d));
    if left.is_empty() && right.is_empty() && result.is_empty() {
        return Ok(());
    }
    ensure(left.iter().all(|basis| basis.last() == Some(&0)), || {
        "the blocks of a cluster share K of operand A: expected rows alone".to_owned()
    })?;
    ensure(right.iter().all(|basis| basis.first() == Some(&0)), || {
        "the blocks of a cluster share K of operand B: expected columns alone".to_owned()
    })?;
    let is_pair = check.is_attribute_set("two_ctas");
    if is_pair {
        ensure(read_layout_bool_parameter(d.layout.spec(), "two_ctas"), || {
            "`two_ctas`: expected an accumulator whose layout has `twoCTAs = true`".to_owned()
        })?;
        ensure(right.first() == Some(&vec![0, 1]), || {
            "`two_ctas`: expected [0, 1] as the first basis of operand B's `CGALayout`".to_owned()
        })?;
    }
    for (number, basis) in result.iter().enumerate() {
        let rows = left.get(number).and_then(|basis| basis.first());
        let columns = right.get(number).and_then(|basis| basis.last()).filter(|_| !(is_pair && number == 0));
        let fits = rows.is_none_or(|rows| basis.first() == Some(rows))
            && columns.is_none_or(|columns| basis.last() == Some(columns) || is_pair);
        ensure(fits, || {
            format!("basis {number} of the accumulator's `CGALayout` is {basis:?}: expected A's rows and B's columns")
        })?;
    }
    Ok(())
}

/// The only target whose dots of 4-bit elements with `f8E4M3FN` scales need A's scales in the order `kThenMn`. All
/// other scales must have the order `mnThenK` (see [`scales_order`]).
const SCALES_BY_K: &str = "cuda:107";

/// Rule `scales_order` of `ttng.tc_gen5_mma_scaled`: checks the order of the blocks of scales (128 rows by 4 along K)
/// in tensor memory. The layout's `blockRepOrder` is `mnThenK` if adjacent columns hold blocks that follow each other
/// along M or N, and `kThenMn` if along K. With one block along either axis the orders do not differ, and the default
/// `mnThenK` always passes.
fn scales_order(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let is_narrow = ["a_type", "b_type"].iter().all(|name| check.text_attribute(name) == Some("e2m1"));
    let are_floats = ["a_scale", "b_scale"].iter().all(|group| {
        check.memory_type(group).is_some_and(|memory| memory.element == TileType::Float(FloatType::F8E4M3Fn))
    });
    let by_k = check.target_attribute() == Some(SCALES_BY_K) && is_narrow && are_floats;
    for group in ["a_scale", "b_scale"] {
        let Some(memory) = check.memory_type(group).filter(|memory| memory.layout.spec().name == SCALES) else {
            continue;
        };
        let [.., rows, columns] = memory.shape[..] else { continue };
        let blocks = find_layout_bases(memory.layout.spec(), "cga_layout").unwrap_or_default();
        let split = |axis: usize| blocks.iter().filter(|basis| basis.get(axis).is_some_and(|by| *by != 0)).count();
        let given = match memory.layout.spec().attributes.get("block_rep_order") {
            Some(FamilyParameterValue::Text(word)) => word.as_str(),
            _ => "mnThenK",
        };
        let is_relevant = rows >> split(0) > 128 && columns >> split(1) > 4;
        let expected = if by_k && group == "a_scale" { "kThenMn" } else { "mnThenK" };
        ensure(given == expected || (!is_relevant && given == "mnThenK"), || {
            format!("`{group}` has the layout `{}`: expected `blockRepOrder = {expected}`", memory.layout.text())
        })?;
    }
    Ok(())
}
