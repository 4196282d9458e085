//! Operands that an instruction reads from shared memory by itself, told where they lie by a descriptor.
//!
//! A tile lies in one of a few *arrangements*: along each axis, steps from minor to major, each with its
//! stride, some of which the descriptor says; at last the address's bits are mixed. So the place of an
//! element is `mix(start + sum of coordinate * stride)`, counted from the start of shared memory. Elements narrower
//! than a byte are no bytes apart within it, the first in its low bits.

use serde::{Deserialize, Serialize};

/// A tile in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryOperand {
    /// What it is called: `a`, `b`, ...
    pub role: String,
    /// Name of the element type as the vendor writes it: `f16`, `tf32`, `e4m3`, ...
    pub element: String,
    /// Width of an element in bits, a power of two.
    pub bits: u32,
    /// Sizes of the tile, dim0 x dim1: M x K for `a`, K x N for `b`. They need be no powers of two, see
    /// [`super::Instruction::extent`].
    pub shape: [u64; 2],
    /// How it may lie, the one that is best to write and read first.
    pub arrangements: Vec<CanonicalLayout>,
    /// How the instruction is told where it lies.
    pub descriptor: Descriptor,
}

/// One way in which a tile may lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonicalLayout {
    /// What it is called, for people.
    pub name: String,
    /// By what the descriptor tells it from others.
    pub mode: u64,
    /// The steps along dim0 and along dim1, from minor to major.
    pub axes: [Vec<Step>; 2],
    /// How bits of the address are mixed.
    pub mix: XorSwizzle,
    /// Bytes of which the memory begins at a multiple.
    pub alignment: u32,
}

/// Equal steps along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// How many.
    pub count: u64,
    /// From one to the next.
    pub stride: Stride,
}

/// The distance of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stride {
    /// So many bytes; zero for elements that share a byte.
    Bytes(u64),
    /// What the descriptor says in this one of its strides.
    Free(u32),
}

/// Bits of an address mixed into others: `address ^ (address >> shift & mask)`. The bits that are mixed in
/// lie above those that they are mixed into.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct XorSwizzle {
    /// How far the bits move.
    pub shift: u32,
    /// The bits that are changed; zero for none.
    pub mask: u64,
}

impl XorSwizzle {
    /// The mixed address; mixing it again undoes it.
    #[must_use]
    pub fn apply(self, address: u64) -> u64 {
        address ^ (address.checked_shr(self.shift).unwrap_or(0) & self.mask)
    }
}

/// The fields of a descriptor, an integer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Width in bits.
    pub bits: u32,
    /// Where the tile begins, before bits are mixed.
    pub start: Field,
    /// The strides that it says.
    pub strides: Vec<Field>,
    /// The mode of the arrangement.
    pub mode: Field,
    /// The bits that are set whatever it says.
    #[serde(default)]
    pub fixed: u64,
}

/// A part of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Its lowest bit.
    pub at: u32,
    /// Its width in bits.
    pub width: u32,
    /// What one stands for: bytes of places and strides, else one.
    pub grain: u64,
}

impl Field {
    fn mask(self) -> u64 {
        1u64.checked_shl(self.width).map_or(u64::MAX, |above| above - 1)
    }

    /// Whether it can say so much.
    #[must_use]
    pub fn holds(self, value: u64) -> bool {
        self.grain > 0 && value.is_multiple_of(self.grain) && value / self.grain <= self.mask()
    }

    fn put(self, value: u64) -> Option<u64> {
        self.holds(value).then(|| (value / self.grain).checked_shl(self.at)).flatten()
    }

    fn take(self, descriptor: u64) -> u64 {
        (descriptor.checked_shr(self.at).unwrap_or(0) & self.mask()).wrapping_mul(self.grain)
    }
}

/// What a descriptor says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorFields {
    /// Where the tile begins, in bytes.
    pub start: u64,
    /// The strides, in bytes.
    pub strides: Vec<u64>,
    /// The mode of the arrangement.
    pub mode: u64,
}

impl Descriptor {
    /// The descriptor that says this; none where a field cannot.
    #[must_use]
    pub fn encode(&self, fields: &DescriptorFields) -> Option<u64> {
        let strides = self.strides.iter().zip(&fields.strides).map(|(field, &stride)| field.put(stride));
        let all = strides.chain([self.start.put(fields.start), self.mode.put(fields.mode)]);
        let bits = all.sum::<Option<u64>>()? | self.fixed;
        (fields.strides.len() == self.strides.len()).then_some(bits)
    }

    /// Whether it has the bits that are always set.
    #[must_use]
    pub fn is_complete(&self, descriptor: u64) -> bool {
        descriptor & self.fixed == self.fixed
    }

    /// What a descriptor says.
    #[must_use]
    pub fn decode(&self, descriptor: u64) -> DescriptorFields {
        DescriptorFields {
            start: self.start.take(descriptor),
            strides: self.strides.iter().map(|field| field.take(descriptor)).collect(),
            mode: self.mode.take(descriptor),
        }
    }
}

impl MemoryOperand {
    /// The operand of the transposed tile: the same bytes, its axes exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let [first, second] = self.shape;
        let turned = |arrangement: &CanonicalLayout| {
            let [rows, columns] = &arrangement.axes;
            CanonicalLayout { axes: [columns.clone(), rows.clone()], ..arrangement.clone() }
        };
        Self { shape: [second, first], arrangements: self.arrangements.iter().map(turned).collect(), ..self.clone() }
    }

    /// The operand whose elements are the bytes: of elements narrower than a byte, those that share one are one. `None`
    /// where the elements of a byte are not the first along one axis.
    #[must_use]
    pub fn of_bytes(&self) -> Option<Self> {
        let shared = u64::from(8 / self.bits.clamp(1, 8));
        if shared == 1 {
            return Some(self.clone());
        }
        let within = Step { count: shared, stride: Stride::Bytes(0) };
        let axis = (0..2).find(|&axis| self.arrangements.iter().all(|one| one.axes[axis].first() == Some(&within)))?;
        let bytes = |one: &CanonicalLayout| {
            let mut axes = one.axes.clone();
            axes[axis].remove(0);
            CanonicalLayout { axes, ..one.clone() }
        };
        let mut shape = self.shape;
        shape[axis] /= shared;
        let arrangements = self.arrangements.iter().map(bytes).collect();
        Some(Self { bits: 8, shape, arrangements, ..self.clone() })
    }

    /// The arrangement of a mode.
    #[must_use]
    pub fn of_mode(&self, mode: u64) -> Option<&CanonicalLayout> {
        self.arrangements.iter().find(|arrangement| arrangement.mode == mode)
    }
}

impl CanonicalLayout {
    /// Where an element lies: bytes from the start of shared memory.
    #[must_use]
    pub fn address(&self, fields: &DescriptorFields, [row, column]: [u64; 2]) -> u64 {
        let mut address = fields.start;
        for (steps, mut at) in self.axes.iter().zip([row, column]) {
            for step in steps {
                let stride = match step.stride {
                    Stride::Bytes(bytes) => bytes,
                    Stride::Free(field) => fields.strides.get(field as usize).copied().unwrap_or(0),
                };
                let count = step.count.max(1);
                address = address.wrapping_add((at % count).wrapping_mul(stride));
                at /= count;
            }
        }
        self.mix.apply(address)
    }

    /// Which of the elements that share a byte one is, counted from the low bits.
    #[must_use]
    pub fn in_byte(&self, [row, column]: [u64; 2]) -> u64 {
        let shared = |(steps, at): (&Vec<Step>, u64)| match steps.first() {
            Some(&Step { count, stride: Stride::Bytes(0) }) => at % count.max(1),
            _ => 0,
        };
        self.axes.iter().zip([row, column]).map(shared).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor() -> Descriptor {
        let bytes = |at| Field { at, width: 14, grain: 16 };
        Descriptor {
            bits: 64,
            start: bytes(0),
            strides: vec![bytes(16), bytes(32)],
            mode: Field { at: 62, width: 2, grain: 1 },
            fixed: 0,
        }
    }

    #[test]
    fn a_descriptor_says_what_was_put_into_it() {
        let fields = DescriptorFields { start: 0x1230, strides: vec![16, 1024], mode: 3 };
        assert_eq!(descriptor().encode(&fields), Some(0xc000_0040_0001_0123));
        assert_eq!(descriptor().decode(0xc000_0040_0001_0123), fields);
    }

    #[test]
    fn bits_that_are_always_set_are_set() {
        let fixed = Descriptor { fixed: 1 << 46, ..descriptor() };
        let fields = DescriptorFields { start: 0x1230, strides: vec![16, 1024], mode: 3 };
        assert_eq!(fixed.encode(&fields), Some(0xc000_4040_0001_0123));
        assert!(fixed.is_complete(1 << 46) && !fixed.is_complete(0) && descriptor().is_complete(0));
    }

    #[test]
    fn what_a_field_cannot_say_has_no_descriptor() {
        let fields = DescriptorFields { start: 0, strides: vec![16, 16], mode: 0 };
        for (wrong, why) in [
            (DescriptorFields { start: 8, ..fields.clone() }, "not a multiple"),
            (DescriptorFields { start: 1 << 18, ..fields.clone() }, "too far"),
            (DescriptorFields { strides: vec![16], ..fields.clone() }, "too few strides"),
            (DescriptorFields { mode: 4, ..fields.clone() }, "no such mode"),
        ] {
            assert_eq!(descriptor().encode(&wrong), None, "{why}");
        }
    }

    #[test]
    fn an_address_is_the_start_and_the_steps_mixed() {
        // Eight rows of 64 bytes in two columns that the descriptor sets apart.
        let arrangement = CanonicalLayout {
            name: "64".to_owned(),
            mode: 2,
            axes: [
                vec![Step { count: 8, stride: Stride::Bytes(64) }],
                vec![Step { count: 32, stride: Stride::Bytes(2) }, Step { count: 2, stride: Stride::Free(1) }],
            ],
            mix: XorSwizzle { shift: 3, mask: 0x30 },
            alignment: 512,
        };
        let fields = DescriptorFields { start: 1024, strides: vec![0, 4096], mode: 2 };
        assert_eq!(arrangement.address(&fields, [0, 1]), 1026);
        assert_eq!(arrangement.address(&fields, [2, 0]), 1024 + 128 + 16);
        assert_eq!(arrangement.address(&fields, [7, 33]), 1024 + 4096 + ((448 + 2) ^ 0x30));
    }

    #[test]
    fn bytes_of_narrow_elements_lie_where_these_do() {
        let steps = |count, bytes| Step { count, stride: Stride::Bytes(bytes) };
        let arrangement = CanonicalLayout {
            name: "nibbles".to_owned(),
            mode: 0,
            axes: [vec![steps(4, 16)], vec![steps(2, 0), steps(8, 1), Step { count: 2, stride: Stride::Free(0) }]],
            mix: XorSwizzle::default(),
            alignment: 16,
        };
        let (role, element) = ("a".to_owned(), "e2m1".to_owned());
        let (arrangements, descriptor) = (vec![arrangement], descriptor());
        let operand = MemoryOperand { role, element, bits: 4, shape: [4, 32], arrangements, descriptor };
        let bytes = operand.of_bytes().expect("neighbours share a byte");
        assert_eq!((bytes.bits, bytes.shape), (8, [4, 16]));
        let fields = DescriptorFields { start: 0, strides: vec![64], mode: 0 };
        for [row, column] in (0..4).flat_map(|row| (0..32).map(move |column| [row, column])) {
            let address = |operand: &MemoryOperand, at| operand.arrangements[0].address(&fields, at);
            assert_eq!(address(&operand, [row, column]), address(&bytes, [row, column / 2]));
        }
        assert_eq!(bytes.of_bytes().as_ref(), Some(&bytes));
        let apart = MemoryOperand { bits: 2, ..operand };
        assert_eq!(apart.of_bytes(), None, "four of two bits would share a byte, two do");
    }

    #[test]
    fn elements_of_a_byte_are_no_bytes_apart() {
        let arrangement = CanonicalLayout {
            name: "bits".to_owned(),
            mode: 0,
            axes: [
                vec![Step { count: 8, stride: Stride::Bytes(0) }, Step { count: 4, stride: Stride::Bytes(1) }],
                vec![Step { count: 3, stride: Stride::Free(0) }],
            ],
            mix: XorSwizzle::default(),
            alignment: 16,
        };
        let fields = DescriptorFields { start: 64, strides: vec![16], mode: 0 };
        for (at, address, in_byte) in [([7, 0], 64, 7), ([8, 0], 65, 0), ([29, 2], 64 + 3 + 32, 5)] {
            assert_eq!((arrangement.address(&fields, at), arrangement.in_byte(at)), (address, in_byte), "{at:?}");
        }
    }
}
