//! Laws that hold for every layout that a family builds, on every sample.

use std::collections::BTreeSet;

use tilewright::layout::families::cluster::tensor_dims;
use tilewright::layout::{
    Dim, FamilySpec, Layout, LinearLayout, MemoryLayout, Sample, layout_from_json, layout_to_json,
};

use super::super::Setting;
use super::super::walk::{columns, covers_evenly, walk};
use super::{Checked, broken, case, distributed, notation, require, resolve};
use crate::{Case, Context, Verdict};

/// Shapes of tensors from a part of most tiles to many of them. As many as there are widths of
/// elements and numbers of warps, so that a Latin square meets each pair of two of the three.
const SHAPES: [[u64; 2]; 4] = [[16, 16], [32, 128], [128, 64], [128, 128]];
/// The warps for laws that no number of warps makes harder.
const USUAL_WARPS: u32 = 4;

type Law = fn(&Context, &Sample, Setting) -> Checked;

pub(super) fn cases(context: &Context) -> Vec<Case> {
    let mut cases = Vec::new();
    for setting in Setting::all(context) {
        let shape = SHAPES[(setting.warp_step() + setting.element_step()) % SHAPES.len()];
        for sample in context.samples(setting.sample_use()) {
            let name = format!("definition/{}/{}x{}/{setting}", sample.name, shape[0], shape[1]);
            let of = sample.clone();
            cases.push(case(name, move |context| definition(context, &of.spec, &shape, setting)));
            if setting.warps == USUAL_WARPS {
                cases.extend(laws(context, &sample, setting));
            }
        }
    }
    cases
}

fn laws(context: &Context, sample: &Sample, setting: Setting) -> Vec<Case> {
    const ALL: [(&str, Law); 3] = [("notation", round_trip), ("inverse", inverse), ("division", division)];
    const OF_DISTRIBUTED: [(&str, Law); 3] = [("growth", growth), ("slices", slices), ("witness", witness)];
    let is_distributed = matches!(distributed(context, &sample.spec, &SHAPES[3]), Ok(Some(_)));
    let more = OF_DISTRIBUTED.iter().filter(|_| is_distributed);
    let build = |&(law, check): &(&str, Law)| {
        let of = sample.clone();
        case(format!("{law}/{}/{setting}", of.name), move |context| check(context, &of, setting))
    };
    ALL.iter().chain(more).map(build).collect()
}

/// The layout is of the tensor's shape and of the kind that the definitions say: distributed (seed
/// 000, Definition 4.10) or memory (Definition 4.14).
fn definition(context: &Context, spec: &FamilySpec, shape: &[u64], setting: Setting) -> Checked {
    let layout = resolve(context, spec, shape)?;
    of_shape(layout.linear(), shape)?;
    match &layout {
        Layout::Distributed(linear) => {
            of_block(linear, setting)?;
            is_distributed(linear)
        }
        Layout::Memory(memory) => is_memory(memory),
        Layout::TensorMemory(linear) => {
            require(dims(linear) == [Dim::ROW, Dim::COL], || format!("its inputs are {:?}", dims(linear)))?;
            covers_evenly(linear).map(drop).map_err(broken)
        }
    }
}

fn dims(layout: &LinearLayout) -> Vec<Dim> {
    layout.ins().dims().collect()
}

fn of_shape(layout: &LinearLayout, shape: &[u64]) -> Checked {
    let expected: Vec<_> = tensor_dims(shape.len()).into_iter().zip(shape.iter().map(|size| size.ilog2())).collect();
    let found: Vec<_> = layout.outs().iter().collect();
    require(found == expected, || format!("it covers (dim, bits) {found:?}, the tensor has {expected:?}"))
}

fn of_block(layout: &LinearLayout, setting: Setting) -> Checked {
    let expected = [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK];
    require(dims(layout) == expected, || format!("its inputs are {:?}, not {expected:?}", dims(layout)))?;
    for (dim, size) in [(Dim::LANE, setting.lanes), (Dim::WARP, setting.warps), (Dim::BLOCK, 1)] {
        let found = 1u64 << layout.in_bits(dim);
        require(found == u64::from(size), || format!("{dim} has {found} positions, the block has {size}"))?;
    }
    Ok(())
}

/// Each column has at most one bit, no bit is in two columns, every element is held; what is held
/// more than once is so by the zero columns alone.
fn is_distributed(layout: &LinearLayout) -> Checked {
    let columns = columns(layout).map_err(broken)?;
    let mut seen = 0u64;
    for &column in columns.iter().filter(|&&column| column != 0) {
        require(column.is_power_of_two(), || format!("column {column:#x} has several bits\n{layout}"))?;
        require(seen & column == 0, || format!("two columns are {column:#x}\n{layout}"))?;
        seen |= column;
    }
    let zeros = columns.iter().filter(|&&column| column == 0).count();
    let copies = covers_evenly(layout).map_err(broken)?;
    require(u64::from(copies) == 1 << zeros, || {
        format!("each element is held {copies} times, but {zeros} columns are zero\n{layout}")
    })
}

/// Every element has one offset, columns have one or two bits, and padding keeps elements apart
/// and inside the allocation.
fn is_memory(memory: &MemoryLayout) -> Checked {
    let layout = &memory.linear;
    require(dims(layout) == [Dim::OFFSET, Dim::BLOCK], || format!("its inputs are {:?}", dims(layout)))?;
    for column in columns(layout).map_err(broken)? {
        let bits = column.count_ones();
        require(bits == 1 || bits == 2, || format!("column {column:#x} has {bits} bits\n{layout}"))?;
    }
    let copies = covers_evenly(layout).map_err(broken)?;
    require(copies == 1, || format!("each element is held {copies} times\n{layout}"))?;
    let intervals = memory.padding.iter().map(|padding| padding.interval);
    require(intervals.clone().all(u64::is_power_of_two), || "an interval is no power of two".to_owned())?;
    require(intervals.is_sorted(), || "intervals do not ascend".to_owned())?;
    let mut last = None;
    for offset in 0..1u64 << layout.in_bits(Dim::OFFSET) {
        let place = memory.physical_offset(offset);
        let gaps: u64 = memory.padding.iter().map(|p| offset / p.interval * p.padding).sum();
        require(place == offset + gaps, || format!("offset {offset} lies at {place}, not {}", offset + gaps))?;
        require(last.is_none_or(|last| last < place), || format!("offset {offset} overlaps the one before"))?;
        last = Some(place);
    }
    let allocated = memory.allocated_elements();
    require(last < Some(allocated), || format!("{allocated} elements allocated, the last lies at {last:?}"))
}

/// The spec reads back from JSON and from text, its layout from JSON; the spec read back names the
/// same layout.
fn round_trip(context: &Context, sample: &Sample, _setting: Setting) -> Checked {
    let layout = resolve(context, &sample.spec, &SHAPES[2])?;
    for text in [notation::json(&sample.spec), notation::attribute(&sample.spec)] {
        let read = tilewright::layout::parse_spec(&text).map_err(|error| broken(format!("{text}: {error}")))?;
        require(read == sample.spec, || format!("{text} reads back as {read:?}"))?;
        require(resolve(context, &read, &SHAPES[2])? == layout, || format!("{text} names another layout"))?;
    }
    let json = layout_to_json(layout.linear());
    let read = layout_from_json(&json).map_err(|error| broken(format!("{json}: {error}")))?;
    require(read == *layout.linear(), || format!("{json} reads back as\n{read}"))
}

/// The right inverse leads each element to a position that holds it; where the layout is
/// invertible, each position back to itself.
fn inverse(context: &Context, sample: &Sample, _setting: Setting) -> Checked {
    let layout = resolve(context, &sample.spec, &SHAPES[2])?;
    let layout = layout.linear();
    let inverse = layout.pseudoinvert().map_err(|error| broken(error.to_string()))?;
    let positions = table(&inverse)?;
    let elements = table(layout)?;
    for (element, &position) in positions.iter().enumerate() {
        let back = elements.get(position as usize).copied();
        require(back == Some(element as u64), || format!("element {element} leads to {position}, which has {back:?}"))?;
    }
    let injective = elements.len() == positions.len();
    require(!injective || layout.invert().is_ok_and(|i| i == inverse), || "`invert` says otherwise".to_owned())
}

/// The image of every position, by brute force, and by the layout's own words.
fn table(layout: &LinearLayout) -> Result<Vec<u64>, Verdict> {
    let mut table = vec![0; 1 << layout.ins().bits().min(super::super::walk::MOST_POSITIONS_BITS)];
    walk(layout, |position, element| table[position as usize] = element).map_err(broken)?;
    for (position, &element) in table.iter().enumerate() {
        let said = layout.apply_packed(position as u64);
        require(said == element, || format!("position {position} is said to hold {said}, its bases say {element}"))?;
    }
    Ok(table)
}

/// A direct sum divides back into its parts, from either side.
fn division(context: &Context, sample: &Sample, _setting: Setting) -> Checked {
    let layout = resolve(context, &sample.spec, &SHAPES[0])?;
    let layout = layout.linear();
    let of = |error: tilewright::layout::LayoutError| broken(error.to_string());
    let first = layout.ins().dims().next().unwrap_or(Dim::REGISTER);
    let other = LinearLayout::identity(4, first, Dim::tensor(0)).map_err(of)?;
    for (inner, outer) in [(layout, &other), (&other, layout)] {
        let sum = inner.direct_sum(outer).map_err(of)?;
        // Quotients keep all dims of the sum, some with one position.
        let quotient = sum.divide_left(inner);
        require(quotient.as_ref().is_some_and(|q| same_map(q, outer)), || {
            format!("divided from the left\n{sum}\nby\n{inner}\nis {quotient:?}")
        })?;
        let quotient = sum.divide_right(outer);
        require(quotient.as_ref().is_some_and(|q| same_map(q, inner)), || {
            format!("divided from the right\n{sum}\nby\n{outer}\nis {quotient:?}")
        })?;
    }
    Ok(())
}

/// Whether two layouts agree, dims of one position aside.
fn same_map(left: &LinearLayout, right: &LinearLayout) -> bool {
    left.squeeze_ins().squeeze_outs() == right.squeeze_ins().squeeze_outs()
}

/// On a larger tensor the layout is the same tile, repeated: seen through the small shape, lanes and
/// warps hold the same coordinates, and registers reach the same ones.
fn growth(context: &Context, sample: &Sample, _setting: Setting) -> Checked {
    let (small_shape, large_shape) = (SHAPES[0], SHAPES[3]);
    let of = |shape: &[u64; 2]| resolve(context, &sample.spec, shape).map(|layout| layout.linear().clone());
    let (small, large) = (of(&small_shape)?, of(&large_shape)?);
    let cut =
        |basis: Vec<u64>| -> Vec<u64> { basis.iter().zip(small_shape).map(|(&c, size)| c & (size - 1)).collect() };
    for dim in [Dim::LANE, Dim::WARP] {
        let within: Vec<_> = large.bases_of(dim).into_iter().map(cut).collect();
        let found = small.bases_of(dim);
        require(within == found, || format!("bases of {dim} are {found:?}, of the large tensor {within:?}"))?;
    }
    let reached = |layout: &LinearLayout| -> BTreeSet<Vec<u64>> {
        let within = layout.bases_of(Dim::REGISTER).into_iter().map(cut);
        within.filter(|basis| basis.iter().any(|&c| c != 0)).collect()
    };
    let (found, within) = (reached(&small), reached(&large));
    require(found == within, || format!("registers reach {found:?}, of the large tensor {within:?}"))
}

/// A slice holds, at each lane and warp, what its parent does once the axis is left out.
fn slices(context: &Context, sample: &Sample, _setting: Setting) -> Checked {
    const EXTENT: u64 = 64;
    for axis in [0, 1] {
        let spec = FamilySpec::new("slice").with("dim", axis as i64).of(sample.spec.clone());
        let mut whole = [EXTENT, EXTENT];
        whole[axis] = 1;
        let parent = resolve(context, &sample.spec, &whole)?;
        let slice = resolve(context, &spec, &[EXTENT])?;
        of_shape(slice.linear(), &[EXTENT])?;
        is_distributed(slice.linear())?;
        let left = |dim| -> Vec<u64> { parent.linear().bases_of(dim).iter().map(|basis| basis[1 - axis]).collect() };
        let own = |dim| -> Vec<u64> { slice.linear().bases_of(dim).into_iter().flatten().collect() };
        for dim in [Dim::LANE, Dim::WARP] {
            require(own(dim) == left(dim), || {
                format!("axis {axis}: {dim} has {:?}, the parent {:?}", own(dim), left(dim))
            })?;
        }
        let reached = |bases: Vec<u64>| bases.into_iter().filter(|&c| c != 0).collect::<BTreeSet<_>>();
        let (found, expected) = (reached(own(Dim::REGISTER)), reached(left(Dim::REGISTER)));
        require(found == expected, || format!("axis {axis}: registers reach {found:?}, the parent's {expected:?}"))?;
    }
    Ok(())
}

/// From and to the sample that is listed next there is a map of positions that keeps elements: each
/// position leads to one in the other layout that holds the same element.
fn witness(context: &Context, sample: &Sample, setting: Setting) -> Checked {
    let shape = SHAPES[2];
    let Some(own) = distributed(context, &sample.spec, &shape)? else { return Ok(()) };
    let Some(other) = next_distributed(context, sample, setting, &shape) else { return Ok(()) };
    for (from, to) in [(&own, &other), (&other, &own)] {
        let map = from.invert_and_compose(to).map_err(|error| broken(format!("{error}\n{from}\nto\n{to}")))?;
        let (elements, holders) = (table(from)?, table(to)?);
        for (position, image) in table(&map)?.into_iter().enumerate() {
            let (wanted, found) = (elements[position], holders.get(image as usize).copied());
            require(found == Some(wanted), || {
                format!("position {position} holds {wanted}, leads to {image}, which holds {found:?}\n{from}\nto\n{to}")
            })?;
        }
    }
    Ok(())
}

/// The layout of the next sample, the first following the last, that distributes a tensor.
fn next_distributed(context: &Context, sample: &Sample, setting: Setting, shape: &[u64]) -> Option<LinearLayout> {
    let samples = context.samples(setting.sample_use());
    let at = samples.iter().position(|other| other.name == sample.name)?;
    let following = samples.iter().cycle().skip(at + 1).take(samples.len() - 1);
    following.filter_map(|other| distributed(context, &other.spec, shape).ok().flatten()).next()
}
