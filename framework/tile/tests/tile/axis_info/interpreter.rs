//! An interpreter of integer programs that compares every claim of the axis information with the computed values.

use std::collections::HashMap;

use tilewright_tile::axis_info::{AxisInfo, AxisInfoMap, IndexBitPosition};
use tilewright_tile::{Attribute, Function, FunctionBody, Op, Region, TileType, Value};

/// The elements of a value, row-major; integers as signed numbers, except that a bool is 0 or 1; pointers in bytes.
type Elements = Vec<i64>;

/// Interprets a function on integers, and checks the axis information of every value when it is computed. A run with an
/// overflow checks nothing from there on.
struct Run<'a> {
    body: &'a FunctionBody,
    axis_info: &'a AxisInfoMap,
    values: HashMap<Value, Elements>,
    /// The number of claims checked, except trivial ones.
    claims: usize,
}

/// Error that ends the execution of a function: a signed overflow, a zero divisor or a shift by too many bits.
struct Left;

type Done<T> = Result<T, Left>;

fn sizes(ty: &TileType) -> Vec<u64> {
    ty.shape().map_or_else(|| vec![1], <[u64]>::to_vec)
}

fn bits_of(ty: &TileType) -> u32 {
    ty.element_bits().unwrap_or(64)
}

fn element_bytes(ty: &TileType) -> i64 {
    match ty.element() {
        TileType::Pointer(pointer) => i64::from(bits_of(&pointer.pointee).div_ceil(8)),
        _ => 1,
    }
}

/// The number as an integer of this width, signed, except that a bool is 0 or 1.
fn wrapped(value: i64, bits: u32) -> i64 {
    match bits {
        1 => value & 1,
        64.. => value,
        _ => value << (64 - bits) >> (64 - bits),
    }
}

/// The number that unsigned arithmetic reads.
fn unsigned(value: i64, bits: u32) -> u64 {
    if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) }
}

/// The number that signed arithmetic reads.
fn signed(value: i64, bits: u32) -> i64 {
    if bits == 1 { -value } else { value }
}

fn coordinates(shape: &[u64], index: u64) -> Vec<u64> {
    let mut rest = index;
    let mut coordinates: Vec<u64> = (shape.iter().rev())
        .map(|size| {
            let at = rest % size;
            rest /= size;
            at
        })
        .collect();
    coordinates.reverse();
    coordinates
}

fn row_major_index(shape: &[u64], coordinates: &[u64]) -> usize {
    shape.iter().zip(coordinates).fold(0, |index, (size, at)| index * size + at) as usize
}

impl Run<'_> {
    fn set(&mut self, value: Value, elements: Elements) {
        self.check(value, &elements);
        self.values.insert(value, elements);
    }

    fn check(&mut self, value: Value, elements: &Elements) {
        let Some(info) = self.axis_info.get_proven(value) else { return };
        let ty = self.body.value_type(value);
        let context = format!("%{}: {info:?} of {elements:?}", self.body.value_name(value).unwrap_or("?"));
        if !matches!(ty.element(), TileType::Pointer(_)) {
            let is_inside = elements.iter().all(|element| (info.range.min..=info.range.max).contains(element));
            assert!(is_inside, "range, {context}");
        }
        let shape = sizes(ty);
        let claims = [self.check_steps(info, &shape, elements, &context), check_axes(info, ty, elements, &context)];
        self.claims += claims.iter().sum::<usize>() + check_vectors(info, ty, elements, &context);
    }

    /// Checks the step of each index bit, and the divisibility of all elements.
    fn check_steps(&self, info: &AxisInfo, shape: &[u64], elements: &Elements, context: &str) -> usize {
        let divisibility = info.divisibility() as i64;
        assert!(elements.iter().all(|element| element % divisibility == 0), "divisibility {divisibility}, {context}");
        let bits = shape.iter().enumerate().flat_map(|(axis, size)| (0..size.ilog2()).map(move |bit| (axis, bit)));
        let known: Vec<_> = bits
            .filter_map(|(axis, bit)| {
                info.bit_step(IndexBitPosition { axis, bit }).map(|step| (weight(shape, axis, bit), step))
            })
            .collect();
        for (weight, step) in &known {
            for index in (0..elements.len()).filter(|index| index & weight == 0) {
                assert_eq!(elements[index | weight] - elements[index], *step, "index bit {weight}, {context}");
            }
        }
        known.len()
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

    fn counted_loop(&mut self, op: Op) -> Done<()> {
        let operation = self.body.op(op);
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
        Ok(())
    }

    fn op(&mut self, op: Op) -> Done<()> {
        let operation = self.body.op(op);
        if operation.name() == "scf.for" {
            return self.counted_loop(op);
        }
        let Some(result) = operation.results.first().copied() else { return Ok(()) };
        if operation.name() == "tt.split" {
            let all = self.values[&operation.operands[0]].clone();
            for (half, result) in operation.results.iter().enumerate() {
                self.set(*result, all.iter().skip(half).step_by(2).copied().collect());
            }
            return Ok(());
        }
        let shape = sizes(self.body.value_type(result));
        let count = shape.iter().product::<u64>();
        let elements: Done<Elements> = (0..count).map(|index| self.element(op, &shape, index)).collect();
        self.set(result, elements?);
        Ok(())
    }

    /// Computes the element of the first result at a row-major index.
    fn element(&self, op: Op, shape: &[u64], index: u64) -> Done<i64> {
        let operation = self.body.op(op);
        let at = coordinates(shape, index);
        let attribute = |name: &str| operation.attributes.get(name);
        let number = |name: &str| attribute(name).and_then(Attribute::as_integer).expect("a number");
        let operand = |operand: usize| &self.values[&operation.operands[operand]];
        let of = |index: usize, at: &[u64]| {
            let shape = sizes(self.body.value_type(operation.operands[index]));
            let at: Vec<u64> = shape.iter().zip(at).map(|(size, at)| at % size).collect();
            operand(index)[row_major_index(&shape, &at)]
        };
        let bits = bits_of(self.body.value_type(operation.results[0]));
        let from = operation.operands.first().map_or(64, |value| bits_of(self.body.value_type(*value)));
        Ok(match operation.name() {
            "arith.constant" => match attribute("value") {
                Some(Attribute::Dense(dense)) => {
                    let all = &dense.elements;
                    wrapped(all[if all.len() == 1 { 0 } else { index as usize }] as i64, bits)
                }
                value => wrapped(value.and_then(Attribute::as_integer).expect("an integer"), bits),
            },
            "tt.make_range" => number("start") + index as i64,
            "tt.splat" => operand(0)[0],
            "tt.expand_dims" | "tt.reshape" | "tt.bitcast" => operand(0)[index as usize],
            "tt.trans" => {
                let Some(Attribute::Array(_, order)) = attribute("order") else { panic!("no order") };
                let mut source = vec![0; at.len()];
                order.iter().zip(&at).for_each(|(axis, at)| source[*axis as usize] = *at);
                of(0, &source)
            }
            "tt.join" => of((index % 2) as usize, &at[..at.len() - 1]),
            "tt.broadcast" => of(0, &at),
            "arith.extsi" => signed(of(0, &at), from),
            "arith.extui" => unsigned(of(0, &at), from) as i64,
            "arith.trunci" => wrapped(of(0, &at), bits),
            "tt.addptr" => of(0, &at) + element_bytes(self.body.value_type(operation.results[0])) * of(1, &at),
            "arith.select" => {
                let condition = operand(0);
                let condition = if condition.len() == 1 { condition[0] } else { of(0, &at) };
                if condition == 1 { of(1, &at) } else { of(2, &at) }
            }
            "arith.cmpi" => {
                let word = attribute("predicate").and_then(Attribute::as_text).expect("a predicate");
                i64::from(compare(word, of(0, &at), of(1, &at), from))
            }
            name => arithmetic(name, of(0, &at), of(1, &at), bits)?,
        })
    }
}

fn compare(predicate: &str, a: i64, b: i64, bits: u32) -> bool {
    let ordering = match predicate.starts_with('u') {
        true => unsigned(a, bits).cmp(&unsigned(b, bits)),
        false => signed(a, bits).cmp(&signed(b, bits)),
    };
    match predicate.trim_start_matches(['s', 'u']) {
        "eq" => ordering.is_eq(),
        "ne" => ordering.is_ne(),
        "lt" => ordering.is_lt(),
        "le" => ordering.is_le(),
        "gt" => ordering.is_gt(),
        "ge" => ordering.is_ge(),
        other => panic!("{other}"),
    }
}

/// Computes an elementwise operation. Signed overflow and division by zero end the run; bools wrap around.
fn arithmetic(name: &str, a: i64, b: i64, bits: u32) -> Done<i64> {
    let (sa, sb, ua, ub) = (signed(a, bits), signed(b, bits), unsigned(a, bits), unsigned(b, bits));
    let exact =
        |value: i64| if bits == 1 || wrapped(value, bits) == value { Ok(wrapped(value, bits)) } else { Err(Left) };
    let shift = u32::try_from(ub).ok().filter(|shift| *shift < bits).ok_or(Left);
    match name {
        "arith.addi" => exact(a.checked_add(b).ok_or(Left)?),
        "arith.subi" => exact(a.checked_sub(b).ok_or(Left)?),
        "arith.muli" => exact(a.checked_mul(b).ok_or(Left)?),
        "arith.divsi" => exact(sa.checked_div(sb).ok_or(Left)?),
        "arith.remsi" => exact(sa.checked_rem(sb).ok_or(Left)?),
        "arith.divui" => Ok(wrapped(ua.checked_div(ub).ok_or(Left)? as i64, bits)),
        "arith.remui" => Ok(wrapped(ua.checked_rem(ub).ok_or(Left)? as i64, bits)),
        "arith.andi" => Ok(a & b),
        "arith.ori" => Ok(a | b),
        "arith.xori" => Ok(a ^ b),
        "arith.shli" => exact(a.checked_mul(1i64.checked_shl(shift?).ok_or(Left)?).ok_or(Left)?),
        "arith.shrsi" => Ok(wrapped(sa >> shift?, bits)),
        "arith.shrui" => Ok(wrapped((ua >> shift?) as i64, bits)),
        "arith.maxsi" => Ok(if sa > sb { a } else { b }),
        "arith.minsi" => Ok(if sa < sb { a } else { b }),
        "arith.maxui" => Ok(if ua > ub { a } else { b }),
        "arith.minui" => Ok(if ua < ub { a } else { b }),
        other => panic!("`{other}` is not run here"),
    }
}

/// The distance in row-major order that a bit of a coordinate moves.
fn weight(shape: &[u64], axis: usize, bit: u32) -> usize {
    (shape[axis + 1..].iter().product::<u64>() << bit) as usize
}

/// Checks contiguity, divisibility and constancy along each axis.
fn check_axes(info: &AxisInfo, ty: &TileType, elements: &Elements, context: &str) -> usize {
    let (shape, unit) = (sizes(ty), element_bytes(ty));
    let mut claims = 0;
    for axis in 0..info.rank() {
        let along = info.dim_info(axis);
        claims += [along.contiguity, along.constancy, along.divisibility].iter().filter(|claim| **claim > 1).count();
        for index in 0..elements.len() as u64 {
            let at = coordinates(&shape, index);
            let first_of = |group: u64| {
                let mut first = at.clone();
                first[axis] -= first[axis] % group;
                elements[row_major_index(&shape, &first)]
            };
            let (element, first) = (elements[index as usize], first_of(along.contiguity));
            let distance = (at[axis] % along.contiguity) as i64 * unit;
            assert_eq!(element, first + distance, "contiguity along {axis}, {context}");
            assert_eq!(first % along.divisibility as i64, 0, "divisibility along {axis}, {context}");
            assert_eq!(element, first_of(along.constancy), "constancy along {axis}, {context}");
        }
    }
    claims
}

/// Checks that each vector of the aligned run's index bits starts at a multiple of its size and has consecutive
/// elements.
fn check_vectors(info: &AxisInfo, ty: &TileType, elements: &Elements, context: &str) -> usize {
    let (shape, unit) = (sizes(ty), element_bytes(ty));
    let run: Vec<usize> = info.aligned_vector_bits().iter().map(|at| weight(&shape, at.axis, at.bit)).collect();
    let all = run.iter().sum::<usize>();
    for first in (0..elements.len()).filter(|index| index & all == 0) {
        let bytes = unit << run.len();
        // A pointer that was cast may point to a part of an element; then there are no vectors.
        assert!(run.is_empty() || elements[first] % bytes == 0, "vectors of {bytes}, {context}");
        for number in 0..1usize << run.len() {
            let index = run.iter().enumerate().fold(first, |index, (bit, weight)| index + (number >> bit & 1) * weight);
            assert_eq!(elements[index], elements[first] + unit * number as i64, "vectors along {run:?}, {context}");
        }
    }
    run.len()
}

/// Executes a function; returns the number of checked claims, or `None` if the run ended early.
pub(super) fn run(function: &Function, arguments: &[i64]) -> Option<usize> {
    let body = function.body.as_ref()?;
    let axis_info = AxisInfoMap::analyze(function);
    let mut run = Run { body, axis_info: &axis_info, values: HashMap::new(), claims: 0 };
    let entry = body.blocks(body.root())[0];
    for (value, argument) in body.arguments(entry).iter().zip(arguments) {
        run.set(*value, vec![*argument]);
    }
    run.region(body.root()).ok().map(|_| run.claims)
}
