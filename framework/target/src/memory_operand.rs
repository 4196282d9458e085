//! Operands that an instruction reads from shared memory itself, by a matrix descriptor.
//!
//! A tile has one of a few *canonical layouts*: along each axis there are steps from minor to major, each with a stride
//! that is fixed or a field of the descriptor; finally the address is XOR-swizzled. So the address of an element is
//! `swizzle(start + sum of coordinate * stride)`, in bytes from the start of shared memory. Elements narrower than a
//! byte share a byte, the first in its low bits.

use serde::{Deserialize, Serialize};

/// A tile in shared memory that an instruction reads through a matrix descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryOperand {
    /// Role of the operand: `a`, `b`, ...
    pub role: String,
    /// Vendor's name of the element type: `f16`, `tf32`, `e4m3`, ...
    pub element: String,
    /// Width of an element in bits, a power of two.
    pub bits: u32,
    /// Sizes of the tile, dim0 x dim1: M x K for `a`, K x N for `b`. They need not be powers of two, see
    /// [`super::Instruction::mma_shape`].
    pub shape: [u64; 2],
    /// The supported canonical layouts, the most efficient one first.
    #[serde(rename = "arrangements")]
    pub layouts: Vec<CanonicalLayout>,
    /// The bit format of the descriptor.
    pub descriptor: DescriptorFormat,
}

/// One canonical layout of a tile in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonicalLayout {
    /// Name of the canonical layout, for messages.
    pub name: String,
    /// Value of the descriptor's mode field (swizzle mode) that selects this layout.
    pub mode: u64,
    /// The steps along dim0, then those along dim1, each list from minor to major.
    pub axes: [Vec<CanonicalMode>; 2],
    /// The XOR swizzle of the byte addresses in this layout.
    #[serde(rename = "mix")]
    pub swizzle: XorSwizzle,
    /// Required alignment in bytes of the tile's buffer in shared memory.
    pub alignment: u32,
}

/// Equal steps along an axis of a tile: each step to the next coordinate adds the same stride to the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonicalMode {
    /// Number of coordinates that the steps cover, the first included.
    pub count: u64,
    /// Distance in memory between two neighbouring coordinates.
    pub stride: CanonicalLayoutStride,
}

/// A stride of a canonical layout: fixed, or a field of the descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CanonicalLayoutStride {
    /// A fixed number of bytes; zero for elements narrower than a byte that share a byte.
    Bytes(u64),
    /// The value in the stride field with this index, in [`DescriptorFormat::strides`].
    #[serde(rename = "free")]
    Field(u32),
}

/// An XOR swizzle of addresses: `address ^ (address >> shift & mask)`. Source bits lie above the bits that they change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct XorSwizzle {
    /// Distance in bits from an address bit that the swizzle changes up to the higher bit that is xored into it.
    pub shift: u32,
    /// Mask of the address bits that the swizzle changes; zero for no swizzle.
    pub mask: u64,
}

impl XorSwizzle {
    /// Returns the swizzled address of `address`; the swizzle is its own inverse.
    #[must_use]
    pub fn apply(self, address: u64) -> u64 {
        address ^ (address.checked_shr(self.shift).unwrap_or(0) & self.mask)
    }
}

/// The bit format of a matrix descriptor, an integer that gives the address and the layout of a tile in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorFormat {
    /// Width of the descriptor in bits.
    pub bits: u32,
    /// The field with the start address of the tile in shared memory, before the XOR swizzle.
    pub start: DescriptorField,
    /// The fields with strides of the canonical layout, in the order of the indices of
    /// [`CanonicalLayoutStride::Field`].
    pub strides: Vec<DescriptorField>,
    /// The field that selects the canonical layout.
    pub mode: DescriptorField,
    /// Mask of the bits that are set in every descriptor of this format.
    #[serde(default)]
    pub fixed: u64,
}

/// The position of one field in a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorField {
    /// Index in the descriptor of the field's lowest bit, counted from zero.
    pub at: u32,
    /// Width of the field in bits.
    pub width: u32,
    /// The unit that the field counts: a number of bytes for addresses and strides, otherwise 1.
    #[serde(rename = "grain")]
    pub granularity: u64,
}

impl DescriptorField {
    fn mask(self) -> u64 {
        1u64.checked_shl(self.width).map_or(u64::MAX, |above| above - 1)
    }

    /// Whether the field can represent `value`: a multiple of the granularity whose quotient fits the field's width.
    #[must_use]
    pub fn can_represent(self, value: u64) -> bool {
        self.granularity > 0 && value.is_multiple_of(self.granularity) && value / self.granularity <= self.mask()
    }

    fn put(self, value: u64) -> Option<u64> {
        self.can_represent(value).then(|| (value / self.granularity).checked_shl(self.at)).flatten()
    }

    fn take(self, descriptor: u64) -> u64 {
        (descriptor.checked_shr(self.at).unwrap_or(0) & self.mask()).wrapping_mul(self.granularity)
    }
}

/// The values of all fields of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorFields {
    /// The start address of the tile in shared memory, in bytes, before the XOR swizzle.
    pub start: u64,
    /// The values of the stride fields, in bytes.
    pub strides: Vec<u64>,
    /// The value of the mode field, which selects the canonical layout.
    pub mode: u64,
}

impl DescriptorFormat {
    /// Encodes the fields as a descriptor; `None` if a field cannot represent its value, or the number of strides is
    /// wrong.
    #[must_use]
    pub fn encode(&self, fields: &DescriptorFields) -> Option<u64> {
        let strides = self.strides.iter().zip(&fields.strides).map(|(field, &stride)| field.put(stride));
        let all = strides.chain([self.start.put(fields.start), self.mode.put(fields.mode)]);
        let bits = all.sum::<Option<u64>>()? | self.fixed;
        (fields.strides.len() == self.strides.len()).then_some(bits)
    }

    /// Whether a descriptor has all bits of [`Self::fixed`] set, as every descriptor of this format must.
    #[must_use]
    pub fn has_fixed_bits(&self, descriptor: u64) -> bool {
        descriptor & self.fixed == self.fixed
    }

    /// Decodes the fields of a descriptor.
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
    /// Returns the operand of the transposed tile: the same bytes in memory, with dim0 and dim1 swapped.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let [first, second] = self.shape;
        let transpose = |canonical_layout: &CanonicalLayout| {
            let [rows, columns] = &canonical_layout.axes;
            CanonicalLayout { axes: [columns.clone(), rows.clone()], ..canonical_layout.clone() }
        };
        Self { shape: [second, first], layouts: self.layouts.iter().map(transpose).collect(), ..self.clone() }
    }

    /// Returns the operand as a tile of bytes; each contains the several narrower elements that share it. `None` unless
    /// one axis has the elements of a byte as its first step in every canonical layout.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Self> {
        let shared = u64::from(8 / self.bits.clamp(1, 8));
        if shared == 1 {
            return Some(self.clone());
        }
        let within = CanonicalMode { count: shared, stride: CanonicalLayoutStride::Bytes(0) };
        let axis = (0..2).find(|&axis| self.layouts.iter().all(|one| one.axes[axis].first() == Some(&within)))?;
        let bytes = |one: &CanonicalLayout| {
            let mut axes = one.axes.clone();
            axes[axis].remove(0);
            CanonicalLayout { axes, ..one.clone() }
        };
        let mut shape = self.shape;
        shape[axis] /= shared;
        let layouts = self.layouts.iter().map(bytes).collect();
        Some(Self { bits: 8, shape, layouts, ..self.clone() })
    }

    /// Finds the canonical layout that the value `mode` of the mode field selects; `None` if no layout has this mode.
    #[must_use]
    pub fn find_layout_by_mode(&self, mode: u64) -> Option<&CanonicalLayout> {
        self.layouts.iter().find(|canonical_layout| canonical_layout.mode == mode)
    }
}

impl CanonicalLayout {
    /// Returns the address of the element in this row and column of the tile, in bytes from the start of shared memory.
    #[must_use]
    pub fn element_address(&self, fields: &DescriptorFields, [row, column]: [u64; 2]) -> u64 {
        let mut address = fields.start;
        for (steps, mut at) in self.axes.iter().zip([row, column]) {
            for step in steps {
                let stride = match step.stride {
                    CanonicalLayoutStride::Bytes(bytes) => bytes,
                    CanonicalLayoutStride::Field(field) => fields.strides.get(field as usize).copied().unwrap_or(0),
                };
                let count = step.count.max(1);
                address = address.wrapping_add((at % count).wrapping_mul(stride));
                at /= count;
            }
        }
        self.swizzle.apply(address)
    }

    /// Returns the index within its byte of the element in this row and column of the tile, counted from the low bits;
    /// 0 for elements of a byte or more.
    #[must_use]
    pub fn index_in_byte(&self, [row, column]: [u64; 2]) -> u64 {
        let shared = |(steps, at): (&Vec<CanonicalMode>, u64)| match steps.first() {
            Some(&CanonicalMode { count, stride: CanonicalLayoutStride::Bytes(0) }) => at % count.max(1),
            _ => 0,
        };
        self.axes.iter().zip([row, column]).map(shared).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor() -> DescriptorFormat {
        let bytes = |at| DescriptorField { at, width: 14, granularity: 16 };
        DescriptorFormat {
            bits: 64,
            start: bytes(0),
            strides: vec![bytes(16), bytes(32)],
            mode: DescriptorField { at: 62, width: 2, granularity: 1 },
            fixed: 0,
        }
    }

    #[test]
    fn a_descriptor_decodes_to_its_fields() {
        let fields = DescriptorFields { start: 0x1230, strides: vec![16, 1024], mode: 3 };
        assert_eq!(descriptor().encode(&fields), Some(0xc000_0040_0001_0123));
        assert_eq!(descriptor().decode(0xc000_0040_0001_0123), fields);
    }

    #[test]
    fn bits_that_are_always_set_are_set() {
        let fixed = DescriptorFormat { fixed: 1 << 46, ..descriptor() };
        let fields = DescriptorFields { start: 0x1230, strides: vec![16, 1024], mode: 3 };
        assert_eq!(fixed.encode(&fields), Some(0xc000_4040_0001_0123));
        assert!(fixed.has_fixed_bits(1 << 46) && !fixed.has_fixed_bits(0) && descriptor().has_fixed_bits(0));
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
        // Eight rows of 64 bytes in two columns with a stride from the descriptor.
        let canonical_layout = CanonicalLayout {
            name: "64".to_owned(),
            mode: 2,
            axes: [
                vec![CanonicalMode { count: 8, stride: CanonicalLayoutStride::Bytes(64) }],
                vec![
                    CanonicalMode { count: 32, stride: CanonicalLayoutStride::Bytes(2) },
                    CanonicalMode { count: 2, stride: CanonicalLayoutStride::Field(1) },
                ],
            ],
            swizzle: XorSwizzle { shift: 3, mask: 0x30 },
            alignment: 512,
        };
        let fields = DescriptorFields { start: 1024, strides: vec![0, 4096], mode: 2 };
        assert_eq!(canonical_layout.element_address(&fields, [0, 1]), 1026);
        assert_eq!(canonical_layout.element_address(&fields, [2, 0]), 1024 + 128 + 16);
        assert_eq!(canonical_layout.element_address(&fields, [7, 33]), 1024 + 4096 + ((448 + 2) ^ 0x30));
    }

    #[test]
    fn bytes_of_narrow_elements_lie_where_these_do() {
        let steps = |count, bytes| CanonicalMode { count, stride: CanonicalLayoutStride::Bytes(bytes) };
        let canonical_layout = CanonicalLayout {
            name: "nibbles".to_owned(),
            mode: 0,
            axes: [
                vec![steps(4, 16)],
                vec![steps(2, 0), steps(8, 1), CanonicalMode { count: 2, stride: CanonicalLayoutStride::Field(0) }],
            ],
            swizzle: XorSwizzle::default(),
            alignment: 16,
        };
        let (role, element) = ("a".to_owned(), "e2m1".to_owned());
        let (layouts, descriptor) = (vec![canonical_layout], descriptor());
        let operand = MemoryOperand { role, element, bits: 4, shape: [4, 32], layouts, descriptor };
        let bytes = operand.to_bytes().expect("neighbours share a byte");
        assert_eq!((bytes.bits, bytes.shape), (8, [4, 16]));
        let fields = DescriptorFields { start: 0, strides: vec![64], mode: 0 };
        for [row, column] in (0..4).flat_map(|row| (0..32).map(move |column| [row, column])) {
            let address = |operand: &MemoryOperand, at| operand.layouts[0].element_address(&fields, at);
            assert_eq!(address(&operand, [row, column]), address(&bytes, [row, column / 2]));
        }
        assert_eq!(bytes.to_bytes().as_ref(), Some(&bytes));
        let two_bit = MemoryOperand { bits: 2, ..operand };
        assert_eq!(two_bit.to_bytes(), None, "four of two bits would share a byte, two do");
    }

    #[test]
    fn elements_of_one_byte_have_one_address() {
        let canonical_layout = CanonicalLayout {
            name: "bits".to_owned(),
            mode: 0,
            axes: [
                vec![
                    CanonicalMode { count: 8, stride: CanonicalLayoutStride::Bytes(0) },
                    CanonicalMode { count: 4, stride: CanonicalLayoutStride::Bytes(1) },
                ],
                vec![CanonicalMode { count: 3, stride: CanonicalLayoutStride::Field(0) }],
            ],
            swizzle: XorSwizzle::default(),
            alignment: 16,
        };
        let fields = DescriptorFields { start: 64, strides: vec![16], mode: 0 };
        for (at, address, in_byte) in [([7, 0], 64, 7), ([8, 0], 65, 0), ([29, 2], 64 + 3 + 32, 5)] {
            assert_eq!(
                (canonical_layout.element_address(&fields, at), canonical_layout.index_in_byte(at)),
                (address, in_byte),
                "{at:?}"
            );
        }
    }
}
