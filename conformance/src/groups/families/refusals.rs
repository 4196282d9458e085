//! Nonsense is refused with an error that names the family, or, where a family may take it, becomes a
//! layout of the whole tensor; never a crash, never a layout of another tensor.

use tilewright_layout::{FamilyAttribute, FamilyError, FamilySpec, Layout, Sample};

use super::super::law::{Checked, broken, require};
use super::super::walk::covers_evenly;
use super::definition::of_shape;
use crate::{Context, Verdict};

const SHAPE: [u64; 2] = [128, 64];
const UNKNOWN: &str = "no_such_parameter";

/// A parameter that the family does not have is refused by name, in the spec and in all that it derives
/// from.
pub(super) fn unknown(context: &Context, sample: &Sample) -> Checked {
    each_level(&sample.spec, &|level| vec![level.clone().with(UNKNOWN, 1)], &mut |spec| {
        let error = refused(context, spec, &SHAPE)?;
        let says = error.to_string();
        require(says.contains(UNKNOWN), || format!("the error does not name `{UNKNOWN}`: {says}\n{}", show(spec)))
    })
}

/// A value of another type is refused; one of the right type and out of all bounds is refused or makes
/// a layout of the whole tensor.
pub(super) fn types(context: &Context, sample: &Sample) -> Checked {
    let other = |value: &FamilyAttribute| others_of(value);
    each_level(&sample.spec, &|level| replaced(level, &other), &mut |spec| refused(context, spec, &SHAPE).map(drop))?;
    each_level(&sample.spec, &|level| replaced(level, &extremes_of), &mut |spec| {
        refused_or_whole(context, spec, &SHAPE)
    })
}

/// Without one of its parameters a spec is refused or, where the parameter has a default, taken; without
/// the layout that it derives from it is refused.
pub(super) fn missing(context: &Context, sample: &Sample) -> Checked {
    let without = |level: &FamilySpec| -> Vec<FamilySpec> {
        let one_less = |name: &String| {
            let mut less = level.clone();
            less.attributes.remove(name);
            less
        };
        let none = FamilySpec { attributes: Default::default(), ..level.clone() };
        level.attributes.keys().map(one_less).chain([none]).collect()
    };
    each_level(&sample.spec, &without, &mut |spec| refused_or_whole(context, spec, &SHAPE))?;
    let orphan = |level: &FamilySpec| {
        let orphan = FamilySpec { parent: None, ..level.clone() };
        if level.parent.is_some() { vec![orphan] } else { Vec::new() }
    };
    each_level(&sample.spec, &orphan, &mut |spec| refused(context, spec, &SHAPE).map(drop))
}

/// Shapes of no elements, of no power of two, of more bits than coordinates have, and of no axes are
/// refused; large ones and those of other ranks are refused or laid out whole.
pub(super) fn shapes(context: &Context, sample: &Sample) -> Checked {
    let never: [&[u64]; 9] = [
        &[],
        &[0, 64],
        &[128, 0],
        &[96, 64],
        &[128, 65],
        &[3, 5],
        &[u64::MAX, 64],
        &[1 << 63, 1 << 63],
        &[1 << 40, 1 << 40],
    ];
    never.iter().try_for_each(|shape| refused(context, &sample.spec, shape).map(drop))?;
    let perhaps: [&[u64]; 7] =
        [&[1, 1], &[1, 64], &[64], &[2, 32, 32], &[1, 2, 16, 16], &[1 << 20, 1 << 20], &[1 << 31, 1 << 31]];
    perhaps.iter().try_for_each(|shape| refused_or_whole(context, &sample.spec, shape))
}

/// Changes each level of a spec, itself or a layout that it derives from, in all the ways that `change`
/// says, and checks what comes out.
fn each_level(
    spec: &FamilySpec,
    change: &dyn Fn(&FamilySpec) -> Vec<FamilySpec>,
    check: &mut dyn FnMut(&FamilySpec) -> Checked,
) -> Checked {
    change(spec).iter().try_for_each(&mut *check)?;
    let Some(parent) = &spec.parent else { return Ok(()) };
    each_level(parent, change, &mut |parent| check(&FamilySpec { parent: None, ..spec.clone() }.of(parent.clone())))
}

/// The spec with each parameter in turn replaced by each of other values.
fn replaced(level: &FamilySpec, others: &dyn Fn(&FamilyAttribute) -> Vec<FamilyAttribute>) -> Vec<FamilySpec> {
    let of = |(name, value): (&String, &FamilyAttribute)| -> Vec<FamilySpec> {
        others(value).into_iter().map(|other| level.clone().with(name, other)).collect()
    };
    level.attributes.iter().flat_map(of).collect()
}

fn text() -> FamilyAttribute {
    FamilyAttribute::Text("nonsense".to_owned())
}

/// Values of other types than a value's.
fn others_of(value: &FamilyAttribute) -> Vec<FamilyAttribute> {
    let nested = FamilyAttribute::List(vec![FamilyAttribute::List(vec![text()])]);
    match value {
        FamilyAttribute::Bool(_) => vec![FamilyAttribute::Int(7), text(), nested],
        FamilyAttribute::Int(_) => vec![text(), FamilyAttribute::List(vec![FamilyAttribute::Int(1)]), nested],
        FamilyAttribute::Text(_) => vec![text(), FamilyAttribute::Int(7), FamilyAttribute::Bool(true), nested],
        FamilyAttribute::List(_) => vec![text(), FamilyAttribute::Int(1), FamilyAttribute::Bool(true), nested],
        FamilyAttribute::Spec(_) => vec![text(), FamilyAttribute::Int(1), nested],
    }
}

/// Values of a value's type that no GPU has use for.
fn extremes_of(value: &FamilyAttribute) -> Vec<FamilyAttribute> {
    match value {
        FamilyAttribute::Int(_) => {
            [i64::MIN, -1, 0, 3, 1 << 31, 1 << 40, 1 << 62, i64::MAX].map(FamilyAttribute::Int).to_vec()
        }
        FamilyAttribute::List(items) => {
            let with_item = |at: usize| {
                extremes_of(&items[at]).into_iter().map(move |item| {
                    let mut list = items.clone();
                    list[at] = item;
                    list
                })
            };
            let longer = items.iter().chain(items).cloned().collect();
            let lists = (0..items.len()).flat_map(with_item).chain([Vec::new(), longer]);
            lists.map(FamilyAttribute::List).collect()
        }
        FamilyAttribute::Bool(value) => vec![FamilyAttribute::Bool(!value)],
        FamilyAttribute::Text(_) | FamilyAttribute::Spec(_) => Vec::new(),
    }
}

/// The error of a question that must have one.
fn refused(context: &Context, spec: &FamilySpec, shape: &[u64]) -> Result<FamilyError, Verdict> {
    match context.layout(spec, shape) {
        Err(error) => named(error, spec),
        Ok(layout) => Err(broken(format!("accepts {} for a tensor of {shape:?}, as\n{}", show(spec), layout.linear()))),
    }
}

fn refused_or_whole(context: &Context, spec: &FamilySpec, shape: &[u64]) -> Checked {
    let wrong = |verdict: Verdict| {
        let detail = format!("accepts {} for a tensor of {shape:?}: {}", show(spec), verdict.detail);
        verdict.with_detail(detail)
    };
    match context.layout(spec, shape) {
        Err(error) => named(error, spec).map(drop),
        Ok(layout) => whole(&layout, shape).map_err(wrong),
    }
}

/// The tensor's shape, all of it held, each element as often as another; that is all that is known of
/// a layout that nobody meant. Layouts of too many positions to visit are checked for their shape alone.
fn whole(layout: &Layout, shape: &[u64]) -> Checked {
    const MOST_BITS: u32 = 16;
    let linear = layout.linear();
    of_shape(linear, shape)?;
    if linear.ins().bits().max(linear.outs().bits()) > MOST_BITS {
        return Ok(());
    }
    covers_evenly(linear).map(drop).map_err(broken)
}

/// The error, where it is the caller's and names a family of the spec.
fn named(error: FamilyError, spec: &FamilySpec) -> Result<FamilyError, Verdict> {
    let name = match &error {
        FamilyError::Plugin(message) => return Err(Verdict::crash(format!("{message}\nasked for {}", show(spec)))),
        FamilyError::Unknown { name, .. } => name,
        FamilyError::Parameter { family, .. }
        | FamilyError::Shape { family, .. }
        | FamilyError::Layout { family, .. } => family,
    };
    if super::shown::asks_for(spec, name) {
        return Ok(error);
    }
    Err(broken(format!("the error names no family of {}: {error}", show(spec))))
}

fn show(spec: &FamilySpec) -> String {
    super::notation::attribute(spec)
}
