//! Random programs: the claims of the axis information hold for every value of every run.

use proptest::prelude::*;

use tilewright_tile::op::Dialects;
use tilewright_tile::{text, verify_module};

use super::interpreter::run;

/// A random step; numbers select its kind, its operands among the values of the right types, and its constant.
#[derive(Debug, Clone)]
struct Step {
    kind: usize,
    operands: [usize; 3],
    constant: i64,
}

/// A tensor of the program: its name, shape and element type.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tensor {
    name: String,
    shape: Vec<u64>,
    element: &'static str,
}

impl Tensor {
    fn ty(&self) -> String {
        typed(&self.shape, self.element)
    }

    fn is_integer(&self) -> bool {
        self.element.starts_with('i')
    }
}

fn typed(shape: &[u64], element: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{element}>")
}

const BINARY: [&str; 17] = [
    "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori", "shli", "shrsi", "shrui",
    "maxsi", "minsi", "maxui", "minui",
];

const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

const SHAPES: [&[u64]; 7] = [&[16], &[4, 4], &[2, 8], &[8, 2], &[1, 16], &[16, 1], &[2, 2, 4]];

const POINTERS: [&str; 4] = ["!tt.ptr<i1>", "!tt.ptr<f16>", "!tt.ptr<f32>", "!tt.ptr<i8>"];

/// The text of a program under construction, with its tensors so far.
struct Program {
    text: String,
    tensors: Vec<Tensor>,
    names: usize,
}

impl Program {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Adds a line that defines a tensor; `text` is all of it behind the equals sign.
    fn define(&mut self, text: &str, shape: &[u64], element: &'static str) -> Tensor {
        let tensor = Tensor { name: self.name(), shape: shape.to_vec(), element };
        self.text += &format!("  %{} = {text}\n", tensor.name);
        self.tensors.push(tensor.clone());
        tensor
    }

    fn pick(&self, number: usize, fits: impl Fn(&Tensor) -> bool) -> Option<Tensor> {
        let fitting: Vec<_> = self.tensors.iter().filter(|tensor| fits(tensor)).collect();
        fitting.get(number % fitting.len().max(1)).map(|tensor| (*tensor).clone())
    }

    fn binary(&mut self, name: &str, a: &Tensor, b: &Tensor) -> Tensor {
        self.define(&format!("arith.{name} %{}, %{} : {}", a.name, b.name, a.ty()), &a.shape, a.element)
    }

    fn constant(&mut self, value: i64, of: &Tensor) -> Tensor {
        let value = if of.element == "i1" { format!("{}", value & 1 == 1) } else { value.to_string() };
        self.define(&format!("arith.constant dense<{value}> : {}", of.ty()), &of.shape, of.element)
    }

    fn cast(&mut self, name: &str, a: &Tensor, to: &'static str) -> Tensor {
        self.define(&format!("{name} %{} : {} to {}", a.name, a.ty(), typed(&a.shape, to)), &a.shape, to)
    }

    fn reshape(&mut self, a: &Tensor, shape: &[u64]) -> Tensor {
        let to = typed(shape, a.element);
        self.define(&format!("tt.reshape %{} : {} -> {to}", a.name, a.ty()), shape, a.element)
    }

    /// Adds the operations of a step; nothing if no operands fit.
    fn step(&mut self, step: &Step) -> Option<()> {
        let [first, second, third] = step.operands;
        let constant = step.constant;
        let a = self.pick(first, Tensor::is_integer)?;
        let b = self.pick(second, |b| b.shape == a.shape && b.element == a.element)?;
        match step.kind {
            0..17 => {
                let name = BINARY[step.kind];
                let is_shift = name.starts_with("sh");
                let b = if is_shift && constant % 3 != 0 { self.constant(constant.rem_euclid(6), &a) } else { b };
                self.binary(name, &a, &b);
            }
            // A constant operand, with which axis information knows more about the result.
            17..25 => {
                let constant = self.constant(constant, &a);
                self.binary(BINARY[second % 10], &a, &constant);
            }
            25..27 => {
                let word = PREDICATES[third % PREDICATES.len()];
                let text = format!("arith.cmpi {word}, %{}, %{} : {}", a.name, b.name, a.ty());
                self.define(&text, &a.shape, "i1");
            }
            27 => {
                let condition = self.pick(third, |c| c.shape == a.shape && c.element == "i1")?;
                let types = format!("{}, {}", condition.ty(), a.ty());
                let text = format!("arith.select %{}, %{}, %{} : {types}", condition.name, a.name, b.name);
                self.define(&text, &a.shape, a.element);
            }
            28 => {
                let end = constant + 16;
                let text = format!("tt.make_range {{end = {end} : i32, start = {constant} : i32}} : tensor<16xi32>");
                self.define(&text, &[16], "i32");
            }
            29 => {
                let shape = SHAPES[second % SHAPES.len()];
                let text = format!("tt.splat %{} : i32 -> {}", ["m", "n"][third % 2], typed(shape, "i32"));
                self.define(&text, shape, "i32");
            }
            30 => {
                let values: Vec<String> =
                    (0..16).map(|index| (constant + index * (third as i64 % 5)).to_string()).collect();
                let text = format!("arith.constant dense<[{}]> : tensor<16xi32>", values.join(", "));
                self.define(&text, &[16], "i32");
            }
            31 | 32 => {
                let a = self.pick(first, |a| a.shape.iter().product::<u64>() == 16)?;
                self.reshape(&a, SHAPES[second % SHAPES.len()]);
            }
            33 => {
                let a = self.pick(first, |a| a.shape.len() > 1)?;
                let mut order: Vec<usize> = (0..a.shape.len()).collect();
                let places = 1 + second % (order.len() - 1);
                order.rotate_left(places);
                let shape: Vec<u64> = order.iter().map(|axis| a.shape[*axis]).collect();
                let order = order.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                let to = typed(&shape, a.element);
                let text = format!("tt.trans %{} {{order = array<i32: {order}>}} : {} -> {to}", a.name, a.ty());
                self.define(&text, &shape, a.element);
            }
            34 => self.outer_sum(constant, third),
            35 => {
                let b = self.pick(second, |b| b.shape == a.shape && b.element == a.element)?;
                let mut shape = a.shape.clone();
                shape.push(2);
                let to = typed(&shape, a.element);
                let joined =
                    self.define(&format!("tt.join %{}, %{} : {} -> {to}", a.name, b.name, a.ty()), &shape, a.element);
                let (x, y) = (self.name(), self.name());
                self.text += &format!("  %{x}, %{y} = tt.split %{} : {to} -> {}\n", joined.name, a.ty());
                self.tensors.extend([x, y].map(|name| Tensor { name, ..a.clone() }));
            }
            36 => {
                let to = [("i1", "i32"), ("i8", "i32"), ("i32", "i64"), ("i16", "i64")];
                let (_, to) = to.into_iter().find(|(from, _)| *from == a.element)?;
                self.cast(["arith.extsi", "arith.extui"][second % 2], &a, to);
            }
            37 => {
                let to = ["i1", "i8", "i16"][second % 3];
                let a = self.pick(first, |a| a.element == "i32" || a.element == "i64")?;
                self.cast("arith.trunci", &a, to);
            }
            38 | 39 => {
                let offset = self.pick(first, |a| a.element == "i32" || a.element == "i64")?;
                let pointer = self.pick(second, |p| p.shape == offset.shape && !p.is_integer())?;
                let types = format!("{}, {}", pointer.ty(), offset.ty());
                let text = format!("tt.addptr %{}, %{} : {types}", pointer.name, offset.name);
                self.define(&text, &pointer.shape, pointer.element);
            }
            40 => {
                let (shape, element) = (SHAPES[second % SHAPES.len()], POINTERS[third % POINTERS.len()]);
                let text = format!("tt.splat %p{} : {element} -> {}", third % POINTERS.len(), typed(shape, element));
                self.define(&text, shape, element);
            }
            41 => {
                let pointer = self.pick(first, |p| !p.is_integer())?;
                let to = POINTERS[third % POINTERS.len()];
                let text = format!("tt.bitcast %{} : {} -> {}", pointer.name, pointer.ty(), typed(&pointer.shape, to));
                self.define(&text, &pointer.shape, to);
            }
            _ => self.counted_loop(&a, &b, second % 4),
        }
        Some(())
    }

    /// Adds the sum of a multiple of the row number and the column number.
    fn outer_sum(&mut self, pitch: i64, kind: usize) {
        let range = "tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>";
        let along = self.define(range, &[4], "i32");
        let pitches = match kind % 3 {
            0 => self.define("tt.splat %m : i32 -> tensor<4xi32>", &[4], "i32"),
            _ => self.constant(pitch, &along),
        };
        let rows = self.binary("muli", &along, &pitches);
        let mut both = Vec::new();
        for (tensor, axis) in [(rows, 1), (along, 0)] {
            let shape: &[u64] = if axis == 1 { &[4, 1] } else { &[1, 4] };
            let to = typed(shape, "i32");
            let text = format!("tt.expand_dims %{} {{axis = {axis} : i32}} : tensor<4xi32> -> {to}", tensor.name);
            let expanded = self.define(&text, shape, "i32");
            let text = format!("tt.broadcast %{} : {to} -> tensor<4x4xi32>", expanded.name);
            both.push(self.define(&text, &[4, 4], "i32"));
        }
        self.binary("addi", &both[0], &both[1]);
    }

    /// Adds a loop of `count` iterations. Each adds `b` and the loop counter to the accumulator, which starts at `a`.
    fn counted_loop(&mut self, a: &Tensor, b: &Tensor, count: usize) {
        if a.element != "i32" {
            return;
        }
        let ty = a.ty();
        let [result, carried, counter, sum, spread, next] = [(); 6].map(|()| self.name());
        self.text += &format!(
            "  %{result} = scf.for %{counter} = %zero to %bound{count} step %four iter_args(%{carried} = %{}) -> ({ty}) : i32 {{
    %{sum} = arith.addi %{carried}, %{} : {ty}
    %{spread} = tt.splat %{counter} : i32 -> {ty}
    %{next} = arith.addi %{sum}, %{spread} : {ty}
    scf.yield %{next} : {ty}
  }}\n",
            a.name, b.name
        );
        self.tensors.push(Tensor { name: result, ..a.clone() });
    }
}

/// The text of the program of these steps. Argument `m` is a multiple of 4, pointers are multiples of 16.
fn program(steps: &[Step]) -> String {
    let pointers: Vec<String> = (POINTERS.iter().enumerate())
        .map(|(number, element)| format!("%p{number}: {element} {{tt.divisibility = 16 : i32}}"))
        .collect();
    let text = format!(
        "tt.func @random(%m: i32 {{tt.divisibility = 4 : i32}}, %n: i32, {}) {{
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i32
  %bound0 = arith.constant 0 : i32
  %bound1 = arith.constant 3 : i32
  %bound2 = arith.constant 8 : i32
  %bound3 = arith.constant 10 : i32\n",
        pointers.join(", ")
    );
    let mut program = Program { text, tensors: Vec::new(), names: 0 };
    for kind in [28, 29, 34] {
        program.step(&Step { kind, operands: [0, 0, 1], constant: 4 });
        let first = Step { kind: 28, operands: [0; 3], constant: 0 };
        if program.tensors.is_empty() {
            program.define("tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>", &[16], "i32");
        }
        program.step(&first);
    }
    for step in steps {
        program.step(step);
    }
    program.text + "  tt.return\n}\n"
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let constants = prop_oneof![prop::sample::select(vec![0i64, 1, -1, 2, 4, 8, 16, 3, 6, 7, 12, 15, -4]), -40..40i64];
    let step = (0..44usize, prop::array::uniform3(0..1000usize), constants);
    let step = step.prop_map(|(kind, operands, constant)| Step { kind, operands, constant });
    prop::collection::vec(step, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn axis_info_of_random_programs_holds(steps in steps(), multiple in -20..20i64, other in -50..50i64) {
        let text = program(&steps);
        let module = text::parse_module(&text, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(verify_module(&module), Ok(()), "{}", text);
        run(&module.functions[0], &[4 * multiple, other, 4096, 8192, 16 * 77, 16 * 1001]);
    }
}
