//! Generators of requests for layout families with random parameters. Most parameters have the right kind, with
//! arbitrary values; a few have a wrong kind.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tilewright_layout::{Families, FamilyParameterValue, FamilySpec, Layout};

/// The kind of value that a family's parameter expects, and that the generator gives it most of the time.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// An integer parameter.
    Number,
    /// A parameter that is true or false.
    Flag,
    /// A list of numbers, one for each tensor axis.
    PerAxis,
    /// A list of two or three numbers.
    Few,
    /// A list of pairs of numbers.
    Pairs,
    /// A permutation of the tensor axes.
    Order,
    /// A list of basis vectors: tensor coordinates for each of a few index bits.
    Bases,
    /// A spec (family name and parameters) of another layout family, such as a parent layout.
    Spec(&'static Signature),
    /// One of the listed words.
    Keyword(&'static [&'static str]),
    /// One of the listed numbers.
    OneOf(&'static [i64]),
    /// One of the listed lists of numbers.
    ListOf(&'static [&'static [i64]]),
}

/// A layout family's name and parameters, and the families that its parent layout may be of.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    /// Name of the layout family.
    pub name: &'static str,
    /// The name and kind of each parameter of the family.
    pub parameters: &'static [(&'static str, Kind)],
    /// The allowed families of a parent layout; empty if the family has no parent.
    pub parents: &'static [Signature],
}

impl Signature {
    /// Creates the signature of a family without a parent layout.
    pub const fn new(name: &'static str, parameters: &'static [(&'static str, Kind)]) -> Self {
        Self { name, parameters, parents: &[] }
    }

    /// Returns the signature with the allowed families of a parent layout.
    pub const fn with_parents(self, parents: &'static [Signature]) -> Self {
        Self { parents, ..self }
    }
}

/// Generates random requests: a spec (name and parameters) of one of the layout families, and a tensor shape.
pub fn any_family_request(families: &'static [Signature]) -> impl Strategy<Value = (FamilySpec, Vec<u64>)> {
    let size =
        prop_oneof![12 => (0..9u32).prop_map(|bits| 1u64 << bits), 1 => any::<u64>(), 1 => Just(1 << 40), 1 => Just(0)];
    prop_oneof![8 => 1..4usize, 1 => 0..6usize].prop_flat_map(move |rank| {
        (prop::sample::select(families).prop_flat_map(move |s| spec(s, rank)), vec(size.clone(), rank))
    })
}

fn spec(signature: Signature, rank: usize) -> BoxedStrategy<FamilySpec> {
    let attributes: Vec<_> = signature
        .parameters
        .iter()
        .map(|&(name, kind)| {
            let value =
                prop_oneof![24 => proper(kind, rank).prop_map(Some), 1 => anything().prop_map(Some), 1 => Just(None)];
            value.prop_map(move |value| (name, value))
        })
        .collect();
    let parent = match signature.parents {
        [] => Just(None).boxed(),
        parents => prop::sample::select(parents).prop_flat_map(move |s| spec(s, rank)).prop_map(Some).boxed(),
    };
    (attributes, parent)
        .prop_map(move |(attributes, parent)| {
            let mut spec = FamilySpec::new(signature.name);
            for (name, value) in attributes {
                spec = value.into_iter().fold(spec, |spec, value| spec.with_parameter(name, value));
            }
            spec.parent = parent.map(Box::new);
            spec
        })
        .boxed()
}

fn number() -> impl Strategy<Value = i64> + Clone {
    let extreme = prop::sample::select(vec![0, -1, i64::MAX, i64::MIN, 1 << 31, 1 << 32, 1 << 61, 1 << 62]);
    prop_oneof![96 => (0..7u32).prop_map(|bits| 1i64 << bits), 3 => 0..20i64, 1 => extreme]
}

fn list(items: impl Strategy<Value = Vec<i64>>) -> impl Strategy<Value = FamilyParameterValue> {
    items.prop_map(|items| FamilyParameterValue::from(&items[..]))
}

fn lists(items: impl Strategy<Value = Vec<Vec<i64>>>) -> impl Strategy<Value = FamilyParameterValue> {
    items.prop_map(|items| {
        FamilyParameterValue::List(items.iter().map(|item| FamilyParameterValue::from(&item[..])).collect())
    })
}

/// Generates lists of basis vectors over `rank` tensor axes: each vector is zero, or a step along one axis by a power
/// of two, twice the step of the previous vector along that axis.
fn units(rank: usize) -> impl Strategy<Value = Vec<Vec<i64>>> {
    vec(0..=rank, 0..6).prop_map(move |axes| {
        let mut next = vec![1i64; rank + 1];
        let mut basis = |axis: usize| {
            let mut basis = vec![0; rank];
            if let Some(coordinate) = basis.get_mut(axis) {
                *coordinate = next[axis];
                next[axis] *= 2;
            }
            basis
        };
        axes.into_iter().map(&mut basis).collect()
    })
}

fn proper(kind: Kind, rank: usize) -> BoxedStrategy<FamilyParameterValue> {
    let coordinate = prop_oneof![4 => Just(0i64), 8 => (0..6u32).prop_map(|bits| 1i64 << bits), 1 => number()];
    match kind {
        Kind::Number => number().prop_map(FamilyParameterValue::Int).boxed(),
        Kind::Flag => any::<bool>().prop_map(FamilyParameterValue::Bool).boxed(),
        Kind::PerAxis => list(vec(number(), rank)).boxed(),
        Kind::Few => list(vec(number(), 2..=3)).boxed(),
        Kind::Pairs => lists(vec(vec(number(), 2), 0..3)).boxed(),
        Kind::Order => list(Just((0..rank as i64).collect::<Vec<_>>()).prop_shuffle()).boxed(),
        Kind::Bases => {
            let wild = vec(vec(coordinate, rank), 0..7);
            lists(prop_oneof![2 => Just(Vec::new()), 6 => units(rank), 1 => wild]).boxed()
        }
        Kind::Spec(of) => spec(*of, rank).prop_map(|spec| FamilyParameterValue::Spec(Box::new(spec))).boxed(),
        Kind::OneOf(numbers) => prop::sample::select(numbers).prop_map(FamilyParameterValue::Int).boxed(),
        Kind::ListOf(all) => prop::sample::select(all).prop_map(FamilyParameterValue::from).boxed(),
        Kind::Keyword(words) => {
            prop::sample::select(words).prop_map(|word| FamilyParameterValue::Text(word.to_owned())).boxed()
        }
    }
}

fn anything() -> impl Strategy<Value = FamilyParameterValue> {
    let number = prop_oneof![any::<i64>(), number()];
    let leaf = prop_oneof![
        number.prop_map(FamilyParameterValue::Int),
        any::<bool>().prop_map(FamilyParameterValue::Bool),
        "[a-z]{0,4}".prop_map(FamilyParameterValue::Text),
        Just(FamilyParameterValue::Spec(Box::new(FamilySpec::new("blocked")))),
    ];
    leaf.prop_recursive(3, 80, 70, |inner| vec(inner, 0..70).prop_map(FamilyParameterValue::List))
}

/// Generates `cases` random requests for the layout families, builds their layouts, and calls `check` with each layout
/// that `all` can build.
///
/// Fails if no layout can be built: then all requests were rejected before they reached the code under test.
pub fn check_random_requests(cases: u32, families: &'static [Signature], all: &dyn Families, check: impl Fn(&Layout)) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) });
    let layouts = std::cell::Cell::new(0);
    let requested = runner.run(&any_family_request(families), |(spec, shape)| {
        if let Ok(layout) = all.resolve(&spec, &shape, all) {
            layouts.set(layouts.get() + 1);
            check(&layout);
        }
        Ok(())
    });
    if let Err(error) = requested {
        panic!("{error}");
    }
    println!("{} of {cases} parameter sets have a layout", layouts.get());
    assert!(layouts.get() > cases / 20, "{} of {cases} parameter sets have a layout", layouts.get());
}
