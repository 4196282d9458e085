//! Encodes tensor maps (`CUtensorMap`) as kernel parameters, and locates the elements of a box in global and shared
//! memory. Since the hardware's encoding is not published, this encoding is the virtual device's own. Source: PTX ISA,
//! "Tensors"; CUDA driver API, `cuTensorMapEncodeTiled`.

use tilewright_kernel::{MAX_TENSOR_MAP_RANK, OutOfBoundsFill};
use tilewright_plugin::TensorMapParameter;

/// Number of bytes of a tensor map.
pub(crate) const MAP_BYTES: usize = 128;

/// The first 64-bit word of an encoded tensor map, by which it is recognized.
const MAGIC: u64 = 0x7469_6c65_6d61_7031;

/// The contents of a tensor map: a tensor in global memory, and the box and swizzle of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) address: u64,
    pub(crate) sizes: [u64; MAX_TENSOR_MAP_RANK],
    /// Distance in bytes between adjacent elements along each axis, the contiguous axis first.
    pub(crate) strides: [u64; MAX_TENSOR_MAP_RANK],
    pub(crate) box_sizes: [u64; MAX_TENSOR_MAP_RANK],
    pub(crate) rank: usize,
    pub(crate) element_bytes: u64,
    /// The swizzle mode as in `CUtensorMapSwizzle`: 0 for none; 1, 2 and 3 for 32, 64 and 128 bytes.
    pub(crate) mode: u64,
    /// Fill byte for elements of a box that are outside of the tensor: 0, or 0xff for NaN.
    pub(crate) outside: u8,
    /// The element type's code in PTX ISA, "tensormap.replace", plus one; 0 if the type is unknown.
    pub(crate) element_code: u8,
}

/// One element of a box, with its addresses in shared and in global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Address of the element in shared memory, with the swizzle applied.
    pub(crate) at: u64,
    /// Address of the element in global memory; `None` if the element is outside of the tensor.
    pub(crate) address: Option<u64>,
}

impl Tensor {
    /// Returns the tensor map for a tensor at `address` with these sizes and strides (in bytes). `of` has the
    /// properties that were fixed when the kernel was compiled: rank, box and swizzle. Returns an error message if the
    /// map is invalid.
    pub(crate) fn new(
        of: &TensorMapParameter,
        address: u64,
        sizes: [u64; MAX_TENSOR_MAP_RANK],
        given_strides: [u64; MAX_TENSOR_MAP_RANK],
    ) -> Result<Self, String> {
        let (map, mut strides) = (&of.map, given_strides);
        map.check().map_err(|error| error.to_string())?;
        let mode = of.mode.filter(|&mode| mode <= 3).ok_or("its swizzle mode is unknown")?;
        let element_bytes = u64::from(map.element_bits / 8);
        strides[0] = element_bytes;
        let further = strides.iter().take(map.rank()).skip(1);
        if let Some(bytes) = further.chain([&address]).find(|bytes| !bytes.is_multiple_of(BULK_ALIGNMENT)) {
            return Err(format!(
                "its address or a stride is {bytes:#x}; expected a multiple of {BULK_ALIGNMENT} bytes"
            ));
        }
        let mut box_sizes = [1; MAX_TENSOR_MAP_RANK];
        box_sizes.iter_mut().zip(&map.box_sizes).for_each(|(destination, &size)| *destination = size.into());
        let outside = match map.outside {
            OutOfBoundsFill::Zeros => 0,
            OutOfBoundsFill::NotANumber => 0xff,
        };
        Ok(Self {
            address,
            sizes,
            strides,
            box_sizes,
            rank: map.rank(),
            element_bytes,
            mode: mode.into(),
            outside,
            element_code: map.element.as_deref().map_or(0, element_code),
        })
    }

    /// Encodes the tensor as the bytes of a tensor map.
    pub(crate) fn to_bytes(self) -> [u8; MAP_BYTES] {
        let packed = |numbers: &[u64], bits: u32| numbers.iter().rev().fold(0, |word, &number| word << bits | number);
        let small = [self.rank as u64, self.element_bytes, self.mode, self.outside.into(), self.element_code.into()];
        // A box has 1 to 256 elements along an axis, so each size fits 16 bits.
        let [first, others @ ..] = self.box_sizes;
        let head = [MAGIC, self.address, packed(&small, 8), first, packed(&others, 16)];
        let words = head.into_iter().chain(self.sizes).chain(self.strides);
        let mut bytes = [0; MAP_BYTES];
        bytes
            .chunks_exact_mut(8)
            .zip(words)
            .for_each(|(destination, word)| destination.copy_from_slice(&word.to_le_bytes()));
        bytes
    }

    /// Decodes the bytes of a tensor map; `None` if they do not begin with [`MAGIC`].
    pub(crate) fn from_bytes(bytes: &[u8; MAP_BYTES]) -> Option<Self> {
        let mut words = [0; MAP_BYTES / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        let [MAGIC, address, small, first, others, rest @ ..] = words else { return None };
        let byte = |number: u32| small >> (8 * number) & 0xff;
        let (mut box_sizes, mut sizes, mut strides) =
            ([first; MAX_TENSOR_MAP_RANK], [1; MAX_TENSOR_MAP_RANK], [0; MAX_TENSOR_MAP_RANK]);
        box_sizes
            .iter_mut()
            .skip(1)
            .zip(0..)
            .for_each(|(destination, number)| *destination = others >> (16 * number) & 0xffff);
        sizes.iter_mut().zip(&rest[..MAX_TENSOR_MAP_RANK]).for_each(|(destination, &word)| *destination = word);
        strides.iter_mut().zip(&rest[MAX_TENSOR_MAP_RANK..]).for_each(|(destination, &word)| *destination = word);
        let (rank, outside, element_code) = (byte(0) as usize, byte(3) as u8, byte(4) as u8);
        let (element_bytes, mode) = (byte(1), byte(2));
        Some(Self { address, sizes, strides, box_sizes, rank, element_bytes, mode, outside, element_code })
    }

    /// Returns a tensor map with all fields unset. Kernels create maps from 128 zero bytes and then replace every
    /// field.
    pub(crate) fn blank() -> Self {
        let none = [0; MAX_TENSOR_MAP_RANK];
        let (sizes, strides, box_sizes) = (none, none, none);
        Self { address: 0, sizes, strides, box_sizes, rank: 0, element_bytes: 0, mode: 0, outside: 0, element_code: 0 }
    }

    /// Returns the PTX name of the element type, such as `f16`; `None` if it is unknown.
    pub(crate) fn element(&self) -> Option<&'static str> {
        ELEMENTS.get(usize::from(self.element_code).checked_sub(1)?).map(|&(name, _)| name)
    }

    /// Replaces one field, by its name in PTX ISA, "tensormap.replace". `axis` is the axis of fields that have one
    /// value for each axis. Returns an error message if the value is not supported.
    pub(crate) fn replace(&mut self, field: &str, axis: usize, value: u64) -> Result<(), String> {
        let wrong = || format!("`{field}` of a tensor map: {value:#x} is not supported");
        if axis >= MAX_TENSOR_MAP_RANK {
            return Err(format!("`{field}` of axis {axis}; a tensor map has at most {MAX_TENSOR_MAP_RANK} axes"));
        }
        let is_supported = match field {
            "rank" => value < MAX_TENSOR_MAP_RANK as u64,
            "global_address" | "global_stride" => {
                value.is_multiple_of(BULK_ALIGNMENT) && axis + 1 < MAX_TENSOR_MAP_RANK
            }
            "box_dim" => (1..=256).contains(&value),
            "element_stride" => value == 1,
            "interleave_layout" => value == 0,
            "swizzle_mode" => value <= 3,
            "fill_mode" => value <= 1,
            "global_dim" => true,
            _ => element_bytes(value).is_some(),
        };
        if !is_supported {
            return Err(wrong());
        }
        match field {
            "rank" => self.rank = value as usize + 1,
            "global_address" => self.address = value,
            // The stride along axis 0 is implied by the element size, so `global_stride` starts at axis 1.
            "global_stride" => self.strides[axis + 1] = value,
            "global_dim" => self.sizes[axis] = value,
            "box_dim" => self.box_sizes[axis] = value,
            "swizzle_mode" => self.mode = value,
            "fill_mode" => self.outside = if value == 0 { 0 } else { 0xff },
            "elemtype" => {
                self.element_bytes = element_bytes(value).ok_or_else(wrong)?;
                self.element_code = value as u8 + 1;
                self.strides[0] = self.element_bytes;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the number of bytes of a box in shared memory.
    pub(crate) fn box_bytes(&self) -> u64 {
        self.box_sizes.iter().take(self.rank).fold(self.element_bytes, |bytes, &size| bytes.saturating_mul(size))
    }

    /// Returns the elements of a box. `origin` has the tensor coordinates of its first element; `to` is its address in
    /// shared memory.
    pub(crate) fn pieces(&self, origin: &[i32], to: u64) -> impl Iterator<Item = Piece> + use<'_> {
        let mut begin = [0i64; MAX_TENSOR_MAP_RANK];
        begin.iter_mut().zip(origin).for_each(|(destination, &at)| *destination = at.into());
        (0..self.box_bytes() / self.element_bytes.max(1)).map(move |element| {
            let (mut rest, mut address) = (element, Some(self.address));
            let axes = self.box_sizes.iter().zip(&self.sizes).zip(&self.strides).zip(&begin).take(self.rank);
            for (((&box_size, &size), &stride), &begin) in axes {
                let at = begin + (rest % box_size) as i64;
                rest /= box_size;
                let inside = u64::try_from(at).ok().filter(|&at| at < size);
                address = address.zip(inside).map(|(all, at)| all.wrapping_add(at.wrapping_mul(stride)));
            }
            Piece { at: self.swizzled(to + element * self.element_bytes), address }
        })
    }

    /// Applies the swizzle to an address in shared memory: the index of the 128-byte line permutes the 16-byte chunks
    /// of a row of 32, 64 or 128 bytes.
    fn swizzled(&self, address: u64) -> u64 {
        let chunks = (1 << self.mode) - 1;
        address ^ ((address >> 7 & chunks) << 4)
    }
}

/// The element types with their sizes in bytes, in the order of their codes in PTX ISA, "tensormap.replace"; sub-byte
/// types are left out.
const ELEMENTS: [(&str, u64); 13] = [
    ("u8", 1),
    ("u16", 2),
    ("u32", 4),
    ("s32", 4),
    ("u64", 8),
    ("s64", 8),
    ("f16", 2),
    ("f32", 4),
    ("f32", 4),
    ("f64", 8),
    ("bf16", 2),
    ("tf32", 4),
    ("tf32", 4),
];

/// Returns the code plus one of the element type with this name; 0 if the type is unknown.
fn element_code(name: &str) -> u8 {
    let position = ELEMENTS.iter().position(|&(known, _)| known == name);
    position.map_or(0, |code| code as u8 + 1)
}

/// Returns the size in bytes of the element type with this code; `None` for unknown codes.
fn element_bytes(code: u64) -> Option<u64> {
    ELEMENTS.get(code as usize).map(|&(_, bytes)| bytes)
}

/// Alignment in bytes that addresses, strides and sizes of bulk copies need.
pub(crate) const BULK_ALIGNMENT: u64 = 16;
