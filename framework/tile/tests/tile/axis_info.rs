//! Axis information compared with actual values: programs are executed element by element, and every claim is checked.

use std::collections::HashMap;

use proptest::prelude::*;

use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::{
    Attribute, Body, Function, FunctionBuilder, Op, Region, TileModule, TileType, Value, text, verify,
};

/// The elements of a value, row-major.
type Elements = Vec<i64>;

/// Interprets a function on integers, and checks the axis information of every value when it is computed. A run with an
/// overflow checks nothing.
struct Run<'a> {
    body: &'a Body,
    axis_info: &'a AxisInfoMap,
    values: HashMap<Value, Elements>,
    /// The number of claims checked, except trivial ones.
    claims: usize,
}

/// The end of a run by an arithmetic overflow.
struct Left;

type Done<T> = Result<T, Left>;

fn sizes(ty: &TileType) -> Vec<u64> {
    ty.shape().map_or_else(|| vec![1], <[u64]>::to_vec)
}

fn all_coordinates(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + '_ {
    (0..shape.iter().product::<u64>()).map(|row_major_index| {
        let mut rest = row_major_index;
        let mut coordinates: Vec<u64> = shape
            .iter()
            .rev()
            .map(|size| {
                let axis_coordinate = rest % size;
                rest /= size;
                axis_coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    })
}

fn row_major_index(shape: &[u64], coordinates: &[u64]) -> usize {
    shape
        .iter()
        .zip(coordinates)
        .fold(0, |row_major_index, (size, axis_coordinate)| row_major_index * size + axis_coordinate) as usize
}

impl Run<'_> {
    fn set(&mut self, value: Value, elements: Elements) {
        self.look(value, &elements);
        self.values.insert(value, elements);
    }

    fn look(&mut self, value: Value, elements: &Elements) {
        let Some(info) = self.axis_info.get(value) else { return };
        let ty = self.body.ty(value);
        let name = self.body.name(value).unwrap_or("?");
        let (shape, is_pointer) = (sizes(ty), matches!(ty.element(), TileType::Pointer(_)));
        let step = if is_pointer { 4 } else { 1 };
        if !is_pointer {
            let inside = elements.iter().all(|element| (info.range.min..=info.range.max).contains(element));
            assert!(inside, "%{name}: {elements:?} are not in {:?}", info.range);
        }
        for (axis, along) in info.axes.iter().enumerate() {
            self.claims += usize::from(along.contiguity > 1)
                + usize::from(along.constancy > 1)
                + usize::from(along.divisibility > 1);
            for coordinates in all_coordinates(&shape) {
                let axis_coordinate = elements[row_major_index(&shape, &coordinates)];
                let start = |group: u64| {
                    let mut start = coordinates.clone();
                    start[axis] -= start[axis] % group;
                    (elements[row_major_index(&shape, &start)], (coordinates[axis] % group) as i64)
                };
                let (first, behind) = start(along.contiguity);
                assert_eq!(
                    axis_coordinate,
                    first + behind * step,
                    "%{name}: contiguity {} along {axis} of {elements:?}",
                    along.contiguity
                );
                assert_eq!(
                    first % along.divisibility as i64,
                    0,
                    "%{name}: divisibility {} along {axis} of {elements:?}",
                    along.divisibility
                );
                assert_eq!(
                    axis_coordinate,
                    start(along.constancy).0,
                    "%{name}: constancy {} along {axis} of {elements:?}",
                    along.constancy
                );
            }
        }
    }

    fn region(&mut self, region: Region) -> Done<Vec<Elements>> {
        let block = self.body.blocks(region)[0];
        for op in self.body.ops(block) {
            let operation = self.body.op(*op);
            if operation.definition.traits.terminator {
                return Ok(operation.operands.iter().map(|value| self.values[value].clone()).collect());
            }
            self.op(*op)?;
        }
        Ok(Vec::new())
    }

    fn op(&mut self, op: Op) -> Done<()> {
        let operation = self.body.op(op);
        if operation.name() == "scf.for" {
            let bounds: Vec<i64> = (0..3).map(|index| self.values[&operation.operands[index]][0]).collect();
            let mut carried: Vec<Elements> =
                operation.operands[3..].iter().map(|value| self.values[value].clone()).collect();
            let arguments = self.body.arguments(self.body.blocks(operation.regions[0])[0]).to_vec();
            let mut counter = bounds[0];
            while counter < bounds[1] {
                self.set(arguments[0], vec![counter]);
                for (argument, elements) in arguments[1..].iter().zip(carried) {
                    self.set(*argument, elements);
                }
                carried = self.region(operation.regions[0])?;
                counter += bounds[2];
            }
            for (result, elements) in operation.results.iter().zip(carried) {
                self.set(*result, elements);
            }
            return Ok(());
        }
        let Some(result) = operation.results.first().copied() else { return Ok(()) };
        let shape = sizes(self.body.ty(result));
        let operands: Vec<&Elements> = operation.operands.iter().map(|value| &self.values[value]).collect();
        let attribute = |name: &str| operation.attributes.get(name);
        let of = |index: usize, coordinates: &[u64]| {
            let axis_coordinate = sizes(self.body.ty(operation.operands[index]));
            let coordinates: Vec<u64> =
                axis_coordinate.iter().zip(coordinates).map(|(size, axis_coordinate)| axis_coordinate % size).collect();
            operands[index][row_major_index(&axis_coordinate, &coordinates)]
        };
        let mut elements = Vec::new();
        for (index, coordinates) in all_coordinates(&shape).enumerate() {
            let element = match operation.name() {
                "arith.constant" => match attribute("value") {
                    Some(Attribute::Dense(dense)) => dense.elements[0] as u32 as i32 as i64,
                    value => value.and_then(Attribute::as_integer).expect("an integer"),
                },
                "tt.make_range" => attribute("start").and_then(Attribute::as_integer).expect("a start") + index as i64,
                "tt.splat" => operands[0][0],
                "tt.expand_dims" => operands[0][index],
                "tt.reshape" => operands[0][index],
                "tt.trans" => of(0, &[coordinates[1], coordinates[0]]),
                "tt.broadcast" | "arith.extsi" | "arith.trunci" => of(0, &coordinates),
                "arith.extui" => of(0, &coordinates) & 0xffff_ffff,
                "arith.addi" => of(0, &coordinates) + of(1, &coordinates),
                "tt.addptr" => of(0, &coordinates) + 4 * of(1, &coordinates),
                "arith.subi" => of(0, &coordinates) - of(1, &coordinates),
                "arith.muli" => of(0, &coordinates) * of(1, &coordinates),
                "arith.divsi" => of(0, &coordinates).checked_div(of(1, &coordinates)).ok_or(Left)?,
                "arith.remsi" => of(0, &coordinates).checked_rem(of(1, &coordinates)).ok_or(Left)?,
                "arith.andi" => of(0, &coordinates) & of(1, &coordinates),
                "arith.ori" => of(0, &coordinates) | of(1, &coordinates),
                "arith.xori" => of(0, &coordinates) ^ of(1, &coordinates),
                "arith.shli" => of(0, &coordinates) << (of(1, &coordinates) & 31),
                "arith.shrsi" => of(0, &coordinates) >> (of(1, &coordinates) & 31),
                "arith.maxsi" => of(0, &coordinates).max(of(1, &coordinates)),
                "arith.minsi" => of(0, &coordinates).min(of(1, &coordinates)),
                "arith.select" => {
                    if of(0, &coordinates) == 1 {
                        of(1, &coordinates)
                    } else {
                        of(2, &coordinates)
                    }
                }
                "arith.cmpi" => {
                    let (a, b) = (of(0, &coordinates), of(1, &coordinates));
                    i64::from(match attribute("predicate").and_then(Attribute::as_text) {
                        Some("slt") => a < b,
                        Some("sle") => a <= b,
                        Some("sgt") => a > b,
                        Some("sge") => a >= b,
                        Some("ult") => (a as u64) < b as u64,
                        Some("uge") => a as u64 >= b as u64,
                        Some("eq") => a == b,
                        other => panic!("{other:?}"),
                    })
                }
                other => panic!("`{other}` is not run here"),
            };
            let bits = self.body.ty(result).element_bits().unwrap_or(64);
            let cut = operation.name() == "arith.trunci";
            let kept = if bits == 32 { i64::from(element as i32) } else { element };
            if kept != element && !cut {
                return Err(Left);
            }
            elements.push(kept);
        }
        self.set(result, elements);
        Ok(())
    }
}

/// Executes a function; returns the number of checked claims, or `None` after an overflow.
fn run(function: &Function, arguments: &[i64]) -> Option<usize> {
    let body = function.body.as_ref()?;
    let axis_info = AxisInfoMap::of(function);
    let mut run = Run { body, axis_info: &axis_info, values: HashMap::new(), claims: 0 };
    let entry = body.blocks(body.root())[0];
    for (value, argument) in body.arguments(entry).iter().zip(arguments) {
        run.set(*value, vec![*argument]);
    }
    run.region(body.root()).ok().map(|_| run.claims)
}

const TILED: &str = "tt.func @tiled(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}, %rows: i32, %base: i32) {
  %c8 = arith.constant 8 : i32
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c4 = arith.constant dense<4> : tensor<16xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %first = arith.muli %base, %c8 : i32
  %firsts = tt.splat %first : i32 -> tensor<8xi32>
  %row = arith.addi %firsts, %i : tensor<8xi32>
  %row_2d = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %strides = tt.splat %stride : i32 -> tensor<8x1xi32>
  %row_at = arith.muli %row_2d, %strides : tensor<8x1xi32>
  %col_2d = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %row_all = tt.broadcast %row_at : tensor<8x1xi32> -> tensor<8x16xi32>
  %col_all = tt.broadcast %col_2d : tensor<1x16xi32> -> tensor<8x16xi32>
  %at = arith.addi %row_all, %col_all : tensor<8x16xi32>
  %pointers = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %places = tt.addptr %pointers, %at : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %turned = tt.trans %at {order = array<i32: 1, 0>} : tensor<8x16xi32> -> tensor<16x8xi32>
  %flat = tt.reshape %at : tensor<8x16xi32> -> tensor<128xi32>
  %quarter = arith.divsi %j, %c4 : tensor<16xi32>
  %within = arith.remsi %j, %c4 : tensor<16xi32>
  %bounds = tt.splat %stride : i32 -> tensor<16xi32>
  %inside = arith.cmpi slt, %j, %bounds : tensor<16xi32>
  %loop:2 = scf.for %k = %c0 to %c64 step %c8 iter_args(%moved = %places, %sum = %c0) -> (tensor<8x16x!tt.ptr<f32>>, i32) : i32 {
    %steps = tt.splat %c8 : i32 -> tensor<8x16xi32>
    %next = tt.addptr %moved, %steps : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %left = arith.subi %rows, %k : i32
    %lefts = tt.splat %left : i32 -> tensor<16xi32>
    %mask = arith.cmpi slt, %j, %lefts : tensor<16xi32>
    %more = arith.addi %sum, %k : i32
    scf.yield %next, %more : tensor<8x16x!tt.ptr<f32>>, i32
  }
  tt.return
}";

#[test]
fn axis_info_of_a_tile_holds_and_is_what_layouts_need() {
    let module = text::parse(TILED, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&module), Ok(()));
    let function = &module.functions[0];
    for arguments in [[4096, 64, 37, 3], [16, 16, 1, 0], [65536, 1024, 100, 12]] {
        assert!(run(function, &arguments).is_some_and(|claims| claims > 40));
    }
    let axis_info = AxisInfoMap::of(function);
    let body = function.body.as_ref().expect("a body");
    let along = |name: &str, axis: usize| {
        let value = body.walk(body.root()).into_iter().flat_map(|op| body.op(op).results.clone());
        let arguments = body.walk(body.root()).into_iter().flat_map(|op| body.op(op).regions.clone());
        let arguments = arguments.flat_map(|region| body.arguments(body.blocks(region)[0]).to_vec());
        let value = value.chain(arguments).find(|value| body.name(*value) == Some(name)).expect("a value of this name");
        let along = axis_info.get(value).expect("a fact").axes[axis];
        (along.contiguity, along.divisibility, along.constancy)
    };
    // Rows have 16 contiguous elements, and start at a multiple of 16 elements of 4 bytes, counted from a pointer
    // aligned to 16 bytes.
    assert_eq!(along("at", 1), (16, 16, 1));
    assert_eq!(along("places", 1), (16, 16, 1));
    assert_eq!(along("places", 0), (1, 4, 1));
    assert_eq!(along("turned", 0), (16, 16, 1));
    assert_eq!(along("flat", 0), (16, 16, 1));
    assert_eq!(along("quarter", 0).2, 4);
    assert_eq!(along("within", 0).0, 4);
    assert_eq!(along("inside", 0).2, 16);
    assert_eq!(along("k", 0).1, 8);
    assert_eq!(along("moved", 1), (16, 16, 1), "eight elements of 4 bytes keep the alignment");
    assert_eq!(along("mask", 0).2, 1, "nothing divides the number of rows");
}

/// A random operation on earlier values; numbers select its operands among the values with the right types.
#[derive(Debug, Clone)]
struct Step {
    operation: usize,
    operands: [usize; 3],
    constant: i32,
}

const OPERATIONS: [&str; 16] = [
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.divsi",
    "arith.remsi",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.shli",
    "arith.shrsi",
    "arith.maxsi",
    "arith.minsi",
    "arith.select",
    "range",
    "splat",
    "constant",
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let constants = prop_oneof![
        Just(0),
        Just(1),
        Just(-1),
        Just(2),
        Just(4),
        Just(8),
        Just(16),
        Just(3),
        Just(7),
        Just(15),
        -40..40i32
    ];
    let step = (0..OPERATIONS.len(), prop::array::uniform3(0..1000usize), constants);
    prop::collection::vec(
        step.prop_map(|(operation, operands, constant)| Step { operation, operands, constant }),
        1..25,
    )
}

/// Builds the function that executes the steps on tensors of 16 integers; arguments 0 and 1 are multiples of 4 and of
/// 1.
fn built(dialects: &Dialects, steps: &[Step]) -> Function {
    let i32 = TileType::integer(32);
    let tensor = TileType::tensor([16], i32.clone(), None);
    let mut function = FunctionBuilder::new(dialects, "random", vec![i32.clone(), i32.clone()]);
    function.argument_attribute(0, "tt.divisibility", 4);
    let arguments = function.arguments().to_vec();
    let mut integers = Vec::new();
    for argument in &arguments {
        integers.push(function.op("tt.splat").operand(*argument).result(tensor.clone()).value().expect("a splat"));
    }
    for step in steps {
        let pick = |row_major_index: usize| integers[step.operands[row_major_index] % integers.len()];
        let dense = |value: i32| {
            Attribute::Dense(tilewright_tile::Dense { ty: tensor.clone(), elements: [u64::from(value as u32)].into() })
        };
        let value = match OPERATIONS[step.operation] {
            "range" => {
                let start = step.constant;
                function
                    .op("tt.make_range")
                    .attribute("start", start)
                    .attribute("end", start + 16)
                    .result(tensor.clone())
                    .value()
            }
            "splat" => function.op("tt.splat").operand(arguments[step.operands[0] % 2]).result(tensor.clone()).value(),
            "constant" => function.constant(dense(step.constant)),
            "arith.select" => {
                let predicates = ["slt", "sle", "sgt", "sge", "ult", "uge", "eq"];
                let word = predicates[step.constant.unsigned_abs() as usize % predicates.len()];
                let condition = function
                    .op("arith.cmpi")
                    .attribute("predicate", Attribute::Keyword(word.into()))
                    .operand(pick(0))
                    .operand(pick(1))
                    .result(TileType::tensor([16], TileType::BOOLEAN, None))
                    .value()
                    .expect("a comparison");
                function.op("arith.select").operand(condition).operand(pick(1)).operand(pick(2)).value()
            }
            "arith.shli" | "arith.shrsi" => {
                let constant = function.constant(dense(step.constant.rem_euclid(6))).expect("a constant");
                function.op(OPERATIONS[step.operation]).operand(pick(0)).operand(constant).value()
            }
            name => function.op(name).operand(pick(0)).operand(pick(1)).value(),
        };
        integers.push(value.unwrap_or_else(|error| panic!("{error}")));
    }
    function.op("tt.return").build().expect("an end");
    function.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The claims hold for every run of random programs.
    #[test]
    fn axis_info_of_random_programs_holds(steps in steps(), multiple in -20..20i64, other in -50..50i64) {
        let dialects = Dialects::neutral();
        let function = built(&dialects, &steps);
        let module = TileModule { functions: vec![function], ..TileModule::default() };
        prop_assert_eq!(verify(&module), Ok(()));
        run(&module.functions[0], &[4 * multiple, other]);
    }
}
