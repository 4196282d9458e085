//! Emits the MMAs of one chunk: a part of K that is multiplied at a time.

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Op, Type, Value};
use tilewright_target::ElementType;

use super::accumulator::{Accumulator, unpacked};
use super::cast::{self, carrier_type};
use super::descriptor::Tiles;
use super::elements::{self, PackedElement};
use super::mma_atom::{Role, Scales, kernel_ir_has_fma};
use super::operands::Operands;
use super::plan::MmaPlan;

impl MmaPlan {
    /// Emits the kernel IR that multiplies one chunk of the operands and adds the result to the accumulator; returns
    /// the new accumulator.
    ///
    /// Each operand has one value for each register of its layout: an integer as wide as the problem's elements, or the
    /// byte that holds elements narrower than a byte. An operand in shared memory has a single value, its address.
    /// `scales` has one value for each register of the scales' layouts, none for an operand without scales.
    ///
    /// # Panics
    /// If the number of values differs from the registers of the layouts.
    pub fn emit_chunk(
        &self,
        builder: &mut Builder,
        operands: [&[Value]; 2],
        scales: [&[Value]; 2],
        accumulator: &Accumulator,
    ) -> Accumulator {
        if self.atom.tensor.is_some() {
            let accumulator = self.issue_chunk(builder, operands, scales, accumulator, true);
            self.emit_wait(builder, &accumulator);
            return accumulator;
        }
        let a = self.emit_operand(builder, 0, operands[0], scales[0]);
        let b = self.emit_operand(builder, 1, operands[1], scales[1]);
        let c = accumulator.loop_carried_values();
        match &self.atom.row {
            Some(row) => accumulator.with_values(&self.by_row(builder, row, [&a, &b], scales, c)),
            None => accumulator.with_values(&self.by_lanes(builder, &a, &b, c)),
        }
    }

    /// Issues the MMAs of one chunk, which accumulate in tensor memory, and commits them if `commits` is true; does not
    /// wait for them. The arguments are those of [`Self::emit_chunk`].
    pub(super) fn issue_chunk(
        &self,
        builder: &mut Builder,
        operands: [&[Value]; 2],
        scales: [&[Value]; 2],
        accumulator: &Accumulator,
        commits: bool,
    ) -> Accumulator {
        let [a, b] = [0, 1].map(|side| {
            let operand = self.emit_operand(builder, side, operands[side], scales[side]);
            self.tiles(builder, &operand, side)
        });
        self.in_tensor_memory(builder, ([&a, &b], scales), accumulator, commits)
    }

    /// Emits the elements of operand A (`side` 0) or B (1) as the atom takes them: converted, and followed by zeros
    /// beyond the matrix if the atom is larger along K.
    fn emit_operand(
        &self,
        builder: &mut Builder,
        side: usize,
        values: &[Value],
        scales: &[Value],
    ) -> Vec<PackedElement> {
        let (operands, k_axis) = ([&self.atom.a, &self.atom.b][side], 1 - side);
        if operands.memory.is_some() {
            // Operands in shared memory were converted before they were stored.
            return values.iter().copied().map(PackedElement::from_value).collect();
        }
        let layout = [&self.a, &self.b][side];
        let cast = self.element_conversion(side).emit(builder, layout, values, scales);
        let padding = |positions: &[[u64; 2]]| -> Vec<u64> {
            positions.iter().map(|position| self.order.padding(position[k_axis])).collect()
        };
        let (registers, lanes) = (padding(&operands.registers), padding(&operands.lanes));
        if registers.iter().chain(&lanes).all(|&column| column == 0) {
            return cast;
        }
        let zero = builder.constant(carrier_type(operands.element_type), 0);
        let of_lane = elements::emit_lane_xor(builder, &lanes);
        let mut matrix = Vec::with_capacity(cast.len());
        for (register, PackedElement { value, at }) in (0u64..).zip(cast) {
            let own = tilewright_layout::f2::multiply_vector(&registers, register & ((1 << registers.len()) - 1));
            let value = match of_lane {
                Some(of_lane) => {
                    let own = builder.i32(own as u32);
                    let inside = builder.compare(Compare::Eq, of_lane, own);
                    builder.select(inside, value, zero)
                }
                None if own == 0 => value,
                None => zero,
            };
            matrix.push(PackedElement { value, at });
        }
        matrix
    }

    /// Emits the values of an operand in registers, one for each repetition of the atom; each packs the elements of
    /// this repetition. Repetitions along K are fastest, those along M or N slowest.
    fn packed(&self, builder: &mut Builder, packed_elements: &[PackedElement], operands: &Operands) -> Vec<Value> {
        packed_elements
            .chunks(1 << operands.registers.len())
            .map(|own| elements::packed(builder, own, operands))
            .collect()
    }

    /// Emits the scales of operand A (`side` 0) or B (1) for each repetition of the atom; each value packs 2^`bits`
    /// registers of scales. If the problem has no scales for the operand, all are one; if the atom takes none, the
    /// result is empty.
    pub(super) fn packed_scales(&self, builder: &mut Builder, side: usize, values: &[Value], bits: u32) -> Vec<Value> {
        let Some(scales) = &self.atom.scales else { return Vec::new() };
        let operands = [&scales.a, &scales.b][side];
        if self.problem.scales[side].is_some() {
            let packed_elements: Vec<PackedElement> = values.iter().copied().map(PackedElement::from_value).collect();
            return packed_elements.chunks(1 << bits).map(|own| elements::packed(builder, own, operands)).collect();
        }
        let one = if let ElementType::Float(format) = operands.element_type { format.encode_one() } else { 1 };
        let one = PackedElement::from_value(builder.constant(carrier_type(operands.element_type), one));
        let own = elements::packed(builder, &vec![one; 1 << bits], operands);
        let [m, n, k] = self.tiling.repeats();
        vec![own; 1 << ([m, n][side] + k + operands.registers.len() as u32 - bits)]
    }

    /// Emits the instruction's operand values for the tiles of A (`side` 0) or B (1): packed registers, or matrix
    /// descriptors of tiles in shared memory. Tiles along K are fastest, those along M or N slowest. For an operand in
    /// shared memory `packed_elements` has one entry, the address of the memory.
    pub(super) fn tiles(&self, builder: &mut Builder, packed_elements: &[PackedElement], side: usize) -> Vec<Value> {
        let [m, n, k] = self.tiling.repeats();
        let (layout, operands, repeats) = match side {
            0 => (&self.a, &self.atom.a, m),
            _ => (&self.b, &self.atom.b, n),
        };
        let Some(memory) = &operands.memory else { return self.packed(builder, packed_elements, operands) };
        let tile = |other: u64, along_k: u64| if side == 0 { [other, along_k] } else { [along_k, other] };
        let lane_bits = self.problem.lanes.trailing_zeros();
        let own = std::iter::repeat_n([0, 0], (lane_bits + self.atom.group) as usize);
        let groups = self.tiling.warpgroup_tiles().into_iter().map(|group| tile(group[side], 0));
        let threads: Vec<[u64; 2]> = own.chain(groups).collect();
        let threads = (&threads[..], self.atom.tensor.is_none());
        let tiles = Tiles::new(builder, (layout, memory), packed_elements[0].value, lane_bits, threads);
        // The index of a tile along M or N counts warp groups in its low bits and repetitions of the atom in its high
        // bits.
        let beyond = self.tiling.warps[side];
        let [row, column] = self.first_tiles[side];
        let all = (0..1u64 << (repeats + k)).map(|at| tile(at >> k << beyond, at & ((1 << k) - 1)));
        all.map(|[dim0, dim1]| tiles.descriptor(builder, [row ^ dim0, column ^ dim1])).collect()
    }

    fn by_row(
        &self,
        builder: &mut Builder,
        row: &str,
        [a, b]: [&[PackedElement]; 2],
        scales: [&[Value]; 2],
        c: &[Value],
    ) -> Vec<Value> {
        let atom = &self.atom;
        let a = self.tiles(builder, a, 0);
        let b = self.tiles(builder, b, 1);
        let [scale_a, scale_b] = [0, 1].map(|side| {
            let register_bits = |scales: &Scales| [&scales.a, &scales.b][side].registers.len() as u32;
            self.packed_scales(builder, side, scales[side], atom.scales.as_ref().map_or(0, register_bits))
        });
        let accumulator: Vec<PackedElement> = c.iter().copied().map(PackedElement::from_value).collect();
        let mut accumulator = self.packed(builder, &accumulator, &atom.accumulator);
        self.each_issue(|at_a, at_b, at_accumulator| {
            let value = |role: &Role| match role {
                Role::A => a[at_a],
                Role::B => b[at_b],
                Role::Accumulator => accumulator[at_accumulator],
                Role::ScaleA => scale_a[at_a],
                Role::ScaleB => scale_b[at_b],
                // Unreachable: only atoms that accumulate in tensor memory have this operand.
                Role::Accumulate => accumulator[at_accumulator],
            };
            let operands = atom.order.iter().map(value).collect();
            let ty = builder.type_of(accumulator[at_accumulator]);
            let ty = if atom.queue.is_some() { ty.to_pending() } else { ty };
            accumulator[at_accumulator] = builder.value(ty, Op::Instruction { name: row.to_owned(), operands });
        });
        if let Some(queue) = atom.queue {
            builder.commit(queue);
            accumulator = builder.wait(queue, 0, &accumulator);
        }
        unpacked(builder, &accumulator, 1 << atom.accumulator.registers.len(), &atom.accumulator)
    }

    fn by_lanes(&self, builder: &mut Builder, a: &[PackedElement], b: &[PackedElement], c: &[Value]) -> Vec<Value> {
        let element_type = self.atom.accumulator.element_type;
        let element = cast::kernel_element(element_type).unwrap_or(Element::I32);
        let (multiply, add) =
            if element_type.is_float() { (Binary::FMul, Binary::FAdd) } else { (Binary::Mul, Binary::Add) };
        let fuses = kernel_ir_has_fma(element_type);
        let mut typed = |values: &[Value]| -> Vec<Value> {
            values.iter().map(|&value| builder.cast(Cast::Bits, value, Type::Scalar(element))).collect()
        };
        let element_values = |packed_elements: &[PackedElement]| -> Vec<Value> {
            packed_elements.iter().map(|packed_element| packed_element.value).collect()
        };
        let (a, b, mut accumulator) = (typed(&element_values(a)), typed(&element_values(b)), typed(c));
        self.each_issue(|at_a, at_b, at_accumulator| {
            accumulator[at_accumulator] = if fuses {
                builder.fma(a[at_a], b[at_b], accumulator[at_accumulator])
            } else {
                let product = builder.binary(multiply, a[at_a], b[at_b]);
                builder.binary(add, accumulator[at_accumulator], product)
            };
        });
        accumulator.into_iter().map(|sum| builder.cast(Cast::Bits, sum, carrier_type(element_type))).collect()
    }

    /// Calls `issue` once for each MMA of the chunk, along K in ascending order, with three indices: of the tile of
    /// `a`, of `b`, and of the accumulator.
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
