//! The kernel IR of a contraction of one chunk of K.

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Op, Type, Value};
use tilewright_target::ElementType;

use super::accumulator::{Accumulator, unpacked};
use super::cast::{self, carrier};
use super::described::Tiles;
use super::elements::{self, Part};
use super::operands::Operands;
use super::plan::Contraction;
use super::unit::{Role, Scales, fuses};

impl Contraction {
    /// Writes the kernel IR that adds the product of one chunk of the factors to the sums, and gives the new sums.
    /// Factors are integers as wide as the question's elements, one for each register of their layouts; of elements
    /// narrower than a byte, bytes in which they lie; for a factor that the unit reads from shared memory, the address of
    /// that. `scales` are likewise those of the scales' layouts, of a factor without scales none.
    ///
    /// # Panics
    /// Where there are not as many values as the layouts have registers.
    pub fn emit(
        &self,
        builder: &mut Builder,
        factors: [&[Value]; 2],
        scales: [&[Value]; 2],
        accumulator: &Accumulator,
    ) -> Accumulator {
        let a = self.factor(builder, 0, factors[0], scales[0]);
        let b = self.factor(builder, 1, factors[1], scales[1]);
        let c = accumulator.carried();
        match &self.unit.row {
            Some(row) if self.unit.tensor.is_some() => {
                let (a, b) = (self.tiles(builder, &a, 0), self.tiles(builder, &b, 1));
                self.in_tensor_memory(builder, row, ([&a, &b], scales), accumulator)
            }
            Some(row) => accumulator.with(&self.by_row(builder, row, [&a, &b], scales, c)),
            None => accumulator.with(&self.by_lanes(builder, &a, &b, c)),
        }
    }

    /// A factor as the unit takes it, and zero where the unit is larger than the matrices along K.
    fn factor(&self, builder: &mut Builder, side: usize, values: &[Value], scales: &[Value]) -> Vec<Part> {
        let (operands, k_axis) = ([&self.unit.a, &self.unit.b][side], 1 - side);
        if operands.memory.is_some() {
            // What is stored is cast before.
            return values.iter().copied().map(Part::whole).collect();
        }
        let layout = [&self.a, &self.b][side];
        let cast = self.making(side).emit(builder, layout, values, scales);
        let padding = |places: &[[u64; 2]]| -> Vec<u64> {
            places.iter().map(|place| self.order.padding(place[k_axis])).collect()
        };
        let (registers, lanes) = (padding(&operands.registers), padding(&operands.lanes));
        if registers.iter().chain(&lanes).all(|&part| part == 0) {
            return cast;
        }
        let zero = builder.constant(carrier(operands.number), 0);
        let of_lane = lanes.iter().any(|&part| part != 0).then(|| elements::lane_sum(builder, &lanes));
        let mut matrix = Vec::with_capacity(cast.len());
        for (register, Part { value, at }) in (0u64..).zip(cast) {
            let own = tilewright_layout::f2::multiply(&registers, register & ((1 << registers.len()) - 1));
            let value = match of_lane {
                Some(of_lane) => {
                    let own = builder.i32(own as u32);
                    let inside = builder.compare(Compare::Eq, of_lane, own);
                    builder.select(inside, value, zero)
                }
                None if own == 0 => value,
                None => zero,
            };
            matrix.push(Part { value, at });
        }
        matrix
    }

    /// Registers of each repetition, as (along M or N, along K): the unit's own, packed.
    fn packed(&self, builder: &mut Builder, parts: &[Part], operands: &Operands) -> Vec<Value> {
        parts.chunks(1 << operands.registers.len()).map(|own| elements::packed(builder, own, operands)).collect()
    }

    /// The scales of each repetition, 2^`bits` registers in each value; ones where the question has none.
    pub(super) fn packed_scales(&self, builder: &mut Builder, side: usize, values: &[Value], bits: u32) -> Vec<Value> {
        let Some(scales) = &self.unit.scales else { return Vec::new() };
        let operands = [&scales.a, &scales.b][side];
        if self.problem.scales[side].is_some() {
            let parts: Vec<Part> = values.iter().copied().map(Part::whole).collect();
            return parts.chunks(1 << bits).map(|own| elements::packed(builder, own, operands)).collect();
        }
        let one = if let ElementType::Float(format) = operands.number { format.one() } else { 1 };
        let one = Part::whole(builder.constant(carrier(operands.number), one));
        let own = elements::packed(builder, &vec![one; 1 << bits], operands);
        let [m, n, k] = self.tiling.repeats();
        vec![own; 1 << ([m, n][side] + k + operands.registers.len() as u32 - bits)]
    }

    /// The values that the row takes for a factor, for each of its tiles as (along M or N, along K): registers, or
    /// descriptors of tiles in the memory whose address is all that there is of it.
    pub(super) fn tiles(&self, builder: &mut Builder, parts: &[Part], side: usize) -> Vec<Value> {
        let [m, n, k] = self.tiling.repeats();
        let (layout, operands, repeats) = match side {
            0 => (&self.a, &self.unit.a, m),
            _ => (&self.b, &self.unit.b, n),
        };
        let Some(memory) = &operands.memory else { return self.packed(builder, parts, operands) };
        let tile = |other: u64, along_k: u64| if side == 0 { [other, along_k] } else { [along_k, other] };
        let lane_bits = self.problem.lanes.trailing_zeros();
        let own = std::iter::repeat_n([0, 0], (lane_bits + self.unit.group) as usize);
        let groups = self.tiling.of_groups().into_iter().map(|group| tile(group[side], 0));
        let threads: Vec<[u64; 2]> = own.chain(groups).collect();
        let tiles = Tiles::new(builder, (layout, memory), parts[0].value, lane_bits, &threads);
        // Repetitions lie beyond the groups of warps.
        let beyond = self.tiling.warps[side];
        let all = (0..1u64 << (repeats + k)).map(|at| tile(at >> k << beyond, at & ((1 << k) - 1)));
        all.map(|at| tiles.descriptor(builder, at)).collect()
    }

    fn by_row(
        &self,
        builder: &mut Builder,
        row: &str,
        [a, b]: [&[Part]; 2],
        scales: [&[Value]; 2],
        c: &[Value],
    ) -> Vec<Value> {
        let unit = &self.unit;
        let a = self.tiles(builder, a, 0);
        let b = self.tiles(builder, b, 1);
        let [scale_a, scale_b] = [0, 1].map(|side| {
            let held = |scales: &Scales| [&scales.a, &scales.b][side].registers.len() as u32;
            self.packed_scales(builder, side, scales[side], unit.scales.as_ref().map_or(0, held))
        });
        let accumulator: Vec<Part> = c.iter().copied().map(Part::whole).collect();
        let mut accumulator = self.packed(builder, &accumulator, &unit.accumulator);
        self.each_issue(|at_a, at_b, at_accumulator| {
            let value = |role: &Role| match role {
                Role::A => a[at_a],
                Role::B => b[at_b],
                Role::Accumulator => accumulator[at_accumulator],
                Role::ScaleA => scale_a[at_a],
                Role::ScaleB => scale_b[at_b],
                // No unit whose sums are in registers is told so.
                Role::Accumulate => accumulator[at_accumulator],
            };
            let operands = unit.order.iter().map(value).collect();
            let ty = builder.type_of(accumulator[at_accumulator]);
            let ty = if unit.queue.is_some() { ty.pending() } else { ty };
            accumulator[at_accumulator] = builder.value(ty, Op::Instruction { name: row.to_owned(), operands });
        });
        if let Some(queue) = unit.queue {
            builder.commit(queue);
            accumulator = builder.wait(queue, 0, &accumulator);
        }
        unpacked(builder, &accumulator, 1 << unit.accumulator.registers.len(), &unit.accumulator)
    }

    fn by_lanes(&self, builder: &mut Builder, a: &[Part], b: &[Part], c: &[Value]) -> Vec<Value> {
        let number = self.unit.accumulator.number;
        let element = cast::element(number).unwrap_or(Element::I32);
        let (multiply, add) = if number.is_float() { (Binary::FMul, Binary::FAdd) } else { (Binary::Mul, Binary::Add) };
        let fuses = fuses(number);
        let mut typed = |values: &[Value]| -> Vec<Value> {
            values.iter().map(|&value| builder.cast(Cast::Bits, value, Type::Scalar(element))).collect()
        };
        let whole = |parts: &[Part]| -> Vec<Value> { parts.iter().map(|part| part.value).collect() };
        let (a, b, mut accumulator) = (typed(&whole(a)), typed(&whole(b)), typed(c));
        self.each_issue(|at_a, at_b, at_accumulator| {
            accumulator[at_accumulator] = if fuses {
                builder.f_mul_add(a[at_a], b[at_b], accumulator[at_accumulator])
            } else {
                let product = builder.binary(multiply, a[at_a], b[at_b]);
                builder.binary(add, accumulator[at_accumulator], product)
            };
        });
        accumulator.into_iter().map(|sum| builder.cast(Cast::Bits, sum, carrier(number))).collect()
    }

    /// Calls `issue` with the numbers of the repetitions of `a`, `b` and the sums, in the order of K.
    pub(super) fn each_issue(&self, mut issue: impl FnMut(usize, usize, usize)) {
        let [m, n, k] = self.tiling.repeats();
        for at_k in 0..1usize << k {
            for row in 0..1usize << m {
                for column in 0..1usize << n {
                    issue(row << k | at_k, column << k | at_k, row << n | column);
                }
            }
        }
    }
}
