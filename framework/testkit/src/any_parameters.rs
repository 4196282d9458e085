//! Families with any parameters at all: mostly of the right kind, with values from anywhere.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tilewright_layout::{Families, FamilyAttribute, FamilySpec, Layout};

/// What a parameter should be; what it gets is that most of the time.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A whole number.
    Number,
    /// True or false.
    Flag,
    /// A number for each axis.
    PerAxis,
    /// Two or three numbers.
    Few,
    /// Pairs of numbers.
    Pairs,
    /// A permutation of the axes.
    Order,
    /// Coordinates for each of some bits.
    Bases,
    /// A layout of another family.
    Spec(&'static Signature),
    /// One of some words.
    Word(&'static [&'static str]),
    /// One of some numbers.
    OneOf(&'static [i64]),
    /// One of some lists of numbers.
    ListOf(&'static [&'static [i64]]),
}

/// A family's name and parameters, and whether it derives from another.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    /// Name of the family.
    pub name: &'static str,
    /// Its parameters.
    pub parameters: &'static [(&'static str, Kind)],
    /// The families that it can derive from.
    pub parents: &'static [Signature],
}

/// A spec of one of the families, and a shape to ask for.
pub fn any_question(families: &'static [Signature]) -> impl Strategy<Value = (FamilySpec, Vec<u64>)> {
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
                spec = value.into_iter().fold(spec, |spec, value| spec.with(name, value));
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

fn list(items: impl Strategy<Value = Vec<i64>>) -> impl Strategy<Value = FamilyAttribute> {
    items.prop_map(|items| FamilyAttribute::from(&items[..]))
}

fn lists(items: impl Strategy<Value = Vec<Vec<i64>>>) -> impl Strategy<Value = FamilyAttribute> {
    items.prop_map(|items| FamilyAttribute::List(items.iter().map(|item| FamilyAttribute::from(&item[..])).collect()))
}

/// Each basis moves one unit further along some axis, or nowhere.
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

fn proper(kind: Kind, rank: usize) -> BoxedStrategy<FamilyAttribute> {
    let coordinate = prop_oneof![4 => Just(0i64), 8 => (0..6u32).prop_map(|bits| 1i64 << bits), 1 => number()];
    match kind {
        Kind::Number => number().prop_map(FamilyAttribute::Int).boxed(),
        Kind::Flag => any::<bool>().prop_map(FamilyAttribute::Bool).boxed(),
        Kind::PerAxis => list(vec(number(), rank)).boxed(),
        Kind::Few => list(vec(number(), 2..=3)).boxed(),
        Kind::Pairs => lists(vec(vec(number(), 2), 0..3)).boxed(),
        Kind::Order => list(Just((0..rank as i64).collect::<Vec<_>>()).prop_shuffle()).boxed(),
        Kind::Bases => {
            let wild = vec(vec(coordinate, rank), 0..7);
            lists(prop_oneof![2 => Just(Vec::new()), 6 => units(rank), 1 => wild]).boxed()
        }
        Kind::Spec(of) => spec(*of, rank).prop_map(|spec| FamilyAttribute::Spec(Box::new(spec))).boxed(),
        Kind::OneOf(numbers) => prop::sample::select(numbers).prop_map(FamilyAttribute::Int).boxed(),
        Kind::ListOf(all) => prop::sample::select(all).prop_map(FamilyAttribute::from).boxed(),
        Kind::Word(words) => {
            prop::sample::select(words).prop_map(|word| FamilyAttribute::Text(word.to_owned())).boxed()
        }
    }
}

fn anything() -> impl Strategy<Value = FamilyAttribute> {
    let number = prop_oneof![any::<i64>(), number()];
    let leaf = prop_oneof![
        number.prop_map(FamilyAttribute::Int),
        any::<bool>().prop_map(FamilyAttribute::Bool),
        "[a-z]{0,4}".prop_map(FamilyAttribute::Text),
        Just(FamilyAttribute::Spec(Box::new(FamilySpec::new("blocked")))),
    ];
    leaf.prop_recursive(3, 80, 70, |inner| vec(inner, 0..70).prop_map(FamilyAttribute::List))
}

/// Asks for `cases` layouts and checks those that there are; some must be there, or the questions
/// are all refused at the door.
pub fn ask(cases: u32, families: &'static [Signature], all: &dyn Families, check: impl Fn(&Layout)) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) });
    let layouts = std::cell::Cell::new(0);
    let requested = runner.run(&any_question(families), |(spec, shape)| {
        if let Ok(layout) = all.resolve(&spec, &shape, all) {
            layouts.set(layouts.get() + 1);
            check(&layout);
        }
        Ok(())
    });
    if let Err(error) = requested {
        panic!("{error}");
    }
    println!("{} of {cases} questions have an answer", layouts.get());
    assert!(layouts.get() > cases / 20, "{} of {cases} questions have an answer", layouts.get());
}
