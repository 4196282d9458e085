//! A tile in shared memory of which there is no second one: any that an instruction reads by itself lies alone in
//! each of its arrangements, be it no power of two, and its elements narrower than a byte.

use tilewright_target::{CanonicalLayout, DescriptorFields, MemoryOperand, Stride};

/// A tile that lies alone, at the start of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IsolatedTile<'a> {
    memory: &'a MemoryOperand,
    arrangement: &'a CanonicalLayout,
    /// What its descriptor says.
    pub fields: DescriptorFields,
    /// Bytes of memory, a power of two; some may belong to no element.
    pub bytes: u64,
}

impl<'a> IsolatedTile<'a> {
    /// The tile of an operand in the arrangement that takes the least memory.
    ///
    /// # Errors
    /// A sentence on why there is none.
    pub fn of(memory: &'a MemoryOperand) -> Result<Self, String> {
        let mut least: Option<Self> = None;
        for arrangement in &memory.arrangements {
            let tile = Self::arranged(memory, arrangement)?;
            if least.as_ref().is_none_or(|least| tile.bytes < least.bytes) {
                least = Some(tile);
            }
        }
        least.ok_or_else(|| format!("operand `{}` has no arrangement", memory.role))
    }

    /// The tile in one of the operand's arrangements. What the descriptor sets apart follows what it does not, in
    /// units that are powers of two, so that mixing stays within them.
    ///
    /// # Errors
    /// A sentence on what no descriptor says.
    pub fn arranged(memory: &'a MemoryOperand, arrangement: &'a CanonicalLayout) -> Result<Self, String> {
        let steps = || arrangement.axes.iter().flatten();
        let fixed = steps().map(|step| match step.stride {
            Stride::Bytes(bytes) => step.count.saturating_sub(1).saturating_mul(bytes),
            Stride::Free(_) => 0,
        });
        let mut end = fixed.fold(u64::from(memory.bits / 8).max(1), u64::saturating_add);
        let encodings = &memory.descriptor.strides;
        let mut strides: Vec<u64> = encodings.iter().map(|field| field.grain).collect();
        for step in steps() {
            let Stride::Free(number) = step.stride else { continue };
            let (Some(field), Some(stride)) = (encodings.get(number as usize), strides.get_mut(number as usize)) else {
                return Err(format!("its descriptor has no stride {number}"));
            };
            *stride = end.checked_next_power_of_two().unwrap_or(u64::MAX).max(field.grain);
            end = step.count.saturating_sub(1).saturating_mul(*stride).saturating_add(end);
        }
        let bytes = end.checked_next_power_of_two().ok_or("it is larger than any memory")?;
        let fields = DescriptorFields { start: 0, strides, mode: arrangement.mode };
        let tile = Self { memory, arrangement, fields, bytes };
        tile.descriptor().map(|_| tile)
    }

    /// The descriptor of the tile where the memory is at address zero.
    ///
    /// # Errors
    /// A sentence, where no descriptor says its strides.
    pub fn descriptor(&self) -> Result<u64, String> {
        let bits = self.memory.descriptor.encode(&self.fields);
        bits.ok_or_else(|| {
            format!("{}: no descriptor says strides of {:?}", self.arrangement.name, self.fields.strides)
        })
    }

    /// Bytes of which the memory begins at a multiple.
    #[must_use]
    pub fn alignment(&self) -> u32 {
        self.arrangement.alignment
    }

    /// Where an element begins, in bits.
    #[must_use]
    pub fn bit(&self, element: [u64; 2]) -> u64 {
        let within = self.arrangement.in_byte(element) * u64::from(self.memory.bits);
        8 * self.arrangement.address(&self.fields, element) + within
    }
}
