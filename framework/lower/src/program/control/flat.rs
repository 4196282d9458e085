//! Flattens values of the tile program to the kernel values that kernel regions take and yield.
//!
//! Narrow elements of a tensor cross the borders of regions packed in words of 32 bits. A loaded vector consists of
//! such words, so a region yields it without waiting for the load, and a loop carries as few registers as the vector
//! has.

use smallvec::SmallVec;

use tilewright_kernel::{Builder, Cast, Element, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile as tile;

use super::super::error::{LowerErrorReason, Lowered};
use super::super::lowered::{LoweredValue, Registers, SharedTensorRef, TensorDescriptor};
use super::super::lowering::Lowering;
use super::super::register_differences::RegisterDifferences;
use super::super::types::carrier;

const WORD: Type = Type::Scalar(Element::I32);

/// The packing of narrow elements of a tensor into 32-bit words.
#[derive(Debug, Clone, Copy)]
struct Packing {
    element: Element,
    /// Number of elements in a 32-bit word: 2 or 4.
    count: usize,
}

impl Packing {
    /// Returns how a tensor's registers are packed in 32-bit words, given the type of an element and the number of
    /// registers. `None` if elements are not numbers of 8 or 16 bits, or if the registers do not fill a word.
    fn of(ty: Type, registers: usize) -> Option<Self> {
        let Type::Scalar(element) = ty else { return None };
        let count = match element.bits() {
            8 => 4,
            16 => 2,
            _ => return None,
        };
        (registers >= count).then_some(Self { element, count })
    }

    fn pack(self, builder: &mut Builder, elements: &[Value]) -> Value {
        let vector = builder.pack(elements);
        builder.cast(Cast::Bits, vector, WORD)
    }

    fn unpack(self, builder: &mut Builder, word: Value) -> Vec<Value> {
        let count = self.count as u32;
        let vector = builder.cast(Cast::Bits, word, Type::Vector(self.element, count));
        (0..count).map(|index| builder.extract(vector, index)).collect()
    }
}

impl Lowering<'_> {
    /// Returns the kernel values of the program values `values`, concatenated. Each tensor is first converted to the
    /// layout of the program value at the same position in `like`.
    pub(super) fn flat(&mut self, values: &[tile::Value], like: &[tile::Value]) -> Lowered<Vec<Value>> {
        self.flatten(values, like, false)
    }

    /// As [`Self::flat`], for values that a loop carries in its arguments `like`. Of a tensor, it returns only the
    /// registers that the loop carries ([`RegisterDifferences`]), or their base.
    pub(super) fn flat_carried(&mut self, values: &[tile::Value], like: &[tile::Value]) -> Lowered<Vec<Value>> {
        self.flatten(values, like, true)
    }

    fn flatten(&mut self, values: &[tile::Value], like: &[tile::Value], are_carried: bool) -> Lowered<Vec<Value>> {
        let mut all = Vec::new();
        for (&value, &like) in values.iter().zip(like) {
            if self.pending.has(like) {
                all.extend_from_slice(&self.as_pending(value, like)?);
                continue;
            }
            match self.lowered(value)?.clone() {
                LoweredValue::Scalar(value) => all.push(value),
                LoweredValue::Tensor(_) => {
                    let layout = self.layout_of(like)?;
                    let registers = self.registers_in(value, &layout)?;
                    match Packing::of(carrier(self.body.value_type(like).element())?, registers.len()) {
                        Some(packing) => {
                            let words = registers.chunks(packing.count).map(|own| packing.pack(&mut self.builder, own));
                            all.extend(words.collect::<Vec<_>>());
                        }
                        None if are_carried => match self.carried_base(value, like)? {
                            Some(base) => all.push(base),
                            None => all.extend(self.carried_registers(like, &layout).select(&registers)),
                        },
                        None => all.extend_from_slice(&registers),
                    }
                }
                LoweredValue::Memory(slab) if slab.at.iter().all(|&at| at == 0) => all.push(slab.pointer),
                // Branches may yield different subslices of a buffer; a pointer alone cannot express which.
                LoweredValue::Memory(_) => {
                    return Err(LowerErrorReason::unsupported("a subslice of a tensor in memory that a region yields"));
                }
                LoweredValue::Descriptor(of) => {
                    all.extend([of.pointer, of.active]);
                    all.extend(of.sizes.iter().chain(&of.strides));
                }
                LoweredValue::Token => {}
                LoweredValue::Pending(_) => {
                    return Err(LowerErrorReason::malformed("an asynchronous dot without a wait"));
                }
            }
        }
        Ok(all)
    }

    /// Takes kernel values from `values` and sets them as the lowered values of `targets`, in order, as many as the
    /// type of each needs.
    ///
    /// If the type of a target does not determine the form of its lowered value, `like` has a lowered value of that
    /// form for it. If `values` are those that a loop carries, `arguments` are the loop's arguments. If `are_uniform`,
    /// scalars are recorded as uniform over the block.
    pub(in super::super) fn set_flattened(
        &mut self,
        values: &mut impl Iterator<Item = Value>,
        targets: &[tile::Value],
        like: &[LoweredValue],
        arguments: Option<&[tile::Value]>,
        are_uniform: bool,
    ) -> Lowered<()> {
        for (index, &target) in targets.iter().enumerate() {
            if let Some(lowered) = self.pending.lowered(target, values) {
                self.set_lowered(target, lowered);
                continue;
            }
            if let Some(lowered) = self.leave_tensor_memory(target)? {
                self.set_lowered(target, lowered);
                continue;
            }
            let lowered = match like.get(index) {
                Some(LoweredValue::Descriptor(of)) => LoweredValue::Descriptor(TensorDescriptor {
                    pointer: values.next().ok_or_else(missing)?,
                    active: values.next().ok_or_else(missing)?,
                    sizes: values.by_ref().take(of.sizes.len()).collect(),
                    strides: values.by_ref().take(of.strides.len()).collect(),
                    // No divisor is known for the sizes and offsets of a descriptor that a loop carries.
                    last_multiple: 1,
                    pads_with_nan: of.pads_with_nan,
                }),
                Some(LoweredValue::Token) => LoweredValue::Token,
                _ if self.body.value_type(target).as_memory().is_some() => LoweredValue::Memory(SharedTensorRef {
                    pointer: values.next().ok_or_else(missing)?,
                    at: SmallVec::new(),
                }),
                _ if self.body.value_type(target).as_tensor().is_some() => {
                    LoweredValue::Tensor(self.take_tensor(values, target, arguments.map(|all| all[index]))?)
                }
                _ if matches!(self.body.value_type(target), tile::TileType::Token) => LoweredValue::Token,
                _ => {
                    let value = values.next().ok_or_else(missing)?;
                    if are_uniform {
                        self.set_uniform(target, value);
                        continue;
                    }
                    LoweredValue::Scalar(value)
                }
            };
            self.set_lowered(target, lowered);
        }
        Ok(())
    }

    /// Takes the registers of a tensor from `values`, which are those that a loop carries for `argument` if it is given.
    fn take_tensor(
        &mut self,
        values: &mut impl Iterator<Item = Value>,
        tensor: tile::Value,
        argument: Option<tile::Value>,
    ) -> Lowered<Registers> {
        let layout = self.layout_of(tensor)?;
        let registers = 1usize << layout.in_bits(Dim::REGISTER);
        let packing = Packing::of(carrier(self.body.value_type(tensor).element())?, registers);
        let own = match (packing, argument) {
            (Some(packing), _) => {
                let words = values.take(registers / packing.count);
                words.flat_map(|word| packing.unpack(&mut self.builder, word)).collect()
            }
            (None, Some(argument)) if self.pointer_bases.contains_key(&argument) => {
                let base = values.next().ok_or_else(missing)?;
                self.expand_base(argument, base).unwrap_or_default()
            }
            (None, Some(argument)) => {
                let form = self.carried_registers(argument, &layout);
                let carried: Vec<Value> = values.take(form.count()).collect();
                if carried.len() < form.count() {
                    return Err(missing());
                }
                form.expand(&mut self.builder, &carried)
            }
            (None, None) => values.take(registers).collect(),
        };
        Ok(Registers::new(layout, own))
    }

    /// Returns which registers of a tensor a loop carries. The tensor is the loop's argument `argument`, with the
    /// layout `layout`.
    pub(super) fn carried_registers(&self, argument: tile::Value, layout: &LinearLayout) -> RegisterDifferences {
        let element = self.body.value_type(argument).element();
        let is_moved = matches!(element, tile::TileType::Pointer(_) | tile::TileType::Integer(32 | 64, _));
        RegisterDifferences::of(layout, self.axis_info.get_proven(argument).filter(|_| is_moved))
    }

    /// Returns the lowered form of each of these program values, to serve as `like` in [`Self::set_flattened`].
    pub(super) fn likes(&self, values: &[tile::Value]) -> Lowered<Vec<LoweredValue>> {
        values.iter().map(|&value| self.lowered(value).cloned()).collect()
    }

    /// Returns the kernel types of program values, from the values' own types alone; an error for a tensor descriptor.
    pub(in super::super) fn flat_types(&mut self, values: &[tile::Value]) -> Lowered<Vec<Type>> {
        let mut types = Vec::new();
        for &value in values {
            let ty = self.body.value_type(value);
            match ty {
                tile::TileType::Token => {}
                tile::TileType::Tensor(tensor) => {
                    let carrier = carrier(&tensor.element)?;
                    let layout = self.layout_of(value)?;
                    let registers = 1usize << layout.in_bits(Dim::REGISTER);
                    match Packing::of(carrier, registers) {
                        Some(packing) => types.extend(std::iter::repeat_n(WORD, registers / packing.count)),
                        None => types.extend(std::iter::repeat_n(carrier, registers)),
                    }
                }
                tile::TileType::Memory(_) => types.push(Type::Pointer(tilewright_kernel::MemorySpace::Shared)),
                tile::TileType::Descriptor(_) => {
                    return Err(LowerErrorReason::unsupported("a descriptor that a branch yields"));
                }
                _ => types.push(carrier(ty)?),
            }
        }
        Ok(types)
    }
}

fn missing() -> LowerErrorReason {
    LowerErrorReason::malformed("a region yields fewer values than expected")
}
