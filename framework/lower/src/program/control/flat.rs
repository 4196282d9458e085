//! Values of the program as the values of the kernel that regions take and give.

use smallvec::SmallVec;

use tilewright_kernel::{Type, Value};
use tilewright_layout::Dim;
use tilewright_tile as tile;

use super::super::error::{Lowered, Reason};
use super::super::lowered::{Described, LoweredValue, Registers, Slab};
use super::super::lowering::Lowering;
use super::super::types::carrier;

impl Lowering<'_> {
    /// All kernel values that stand for values of the program, one after the other.
    pub(super) fn flat(&mut self, values: &[tile::Value], like: &[tile::Value]) -> Lowered<Vec<Value>> {
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
                    all.extend_from_slice(&self.spread(value, &layout)?);
                }
                LoweredValue::Memory(slab) if slab.at.iter().all(|&at| at == 0) => all.push(slab.pointer),
                // Regions that come to it may have different parts, of which no pointer tells.
                LoweredValue::Memory(_) => {
                    return Err(Reason::unsupported("a part of a tensor in memory that regions hand on"));
                }
                LoweredValue::Descriptor(of) => {
                    all.extend([of.pointer, of.active]);
                    all.extend(of.sizes.iter().chain(&of.strides));
                }
                LoweredValue::Token => {}
                LoweredValue::Pending(_) => return Err(Reason::malformed("a product that nobody has waited for")),
            }
        }
        Ok(all)
    }

    /// Says what stands for values: the next ones of `values`, of what `like` stands for where types do not say it.
    pub(in super::super) fn hold_flat(
        &mut self,
        values: &mut impl Iterator<Item = Value>,
        targets: &[tile::Value],
        like: &[LoweredValue],
        are_uniform: bool,
    ) -> Lowered<()> {
        let missing = || Reason::malformed("a region gives fewer values than are expected");
        for (number, &target) in targets.iter().enumerate() {
            if let Some(lowered) = self.pending.lowered(target, values) {
                self.hold(target, lowered);
                continue;
            }
            let lowered = match like.get(number) {
                Some(LoweredValue::Descriptor(of)) => LoweredValue::Descriptor(Described {
                    pointer: values.next().ok_or_else(missing)?,
                    active: values.next().ok_or_else(missing)?,
                    sizes: values.by_ref().take(of.sizes.len()).collect(),
                    strides: values.by_ref().take(of.strides.len()).collect(),
                    // Of what comes later nothing is known.
                    last_multiple: 1,
                    pads_with_nan: of.pads_with_nan,
                }),
                Some(LoweredValue::Token) => LoweredValue::Token,
                _ if self.body.ty(target).as_memory().is_some() => LoweredValue::Memory(Slab {
                    pointer: values.next().ok_or_else(missing)?,
                    at: SmallVec::new(),
                    part: None,
                }),
                _ if self.body.ty(target).as_tensor().is_some() => {
                    let layout = self.layout_of(target)?;
                    let registers = 1usize << layout.in_bits(Dim::REGISTER);
                    let own: Vec<Value> = values.by_ref().take(registers).collect();
                    LoweredValue::Tensor(Registers::new(layout, own))
                }
                _ if matches!(self.body.ty(target), tile::TileType::Token) => LoweredValue::Token,
                _ => {
                    let value = values.next().ok_or_else(missing)?;
                    if are_uniform {
                        self.hold_uniform(target, value);
                        continue;
                    }
                    LoweredValue::Scalar(value)
                }
            };
            self.hold(target, lowered);
        }
        Ok(())
    }

    /// What values stand for.
    pub(super) fn likes(&self, values: &[tile::Value]) -> Lowered<Vec<LoweredValue>> {
        values.iter().map(|&value| self.lowered(value).cloned()).collect()
    }

    /// The types of kernel values that stand for a value of the program, by its type alone.
    pub(in super::super) fn flat_types(&mut self, values: &[tile::Value]) -> Lowered<Vec<Type>> {
        let mut types = Vec::new();
        for &value in values {
            let ty = self.body.ty(value);
            match ty {
                tile::TileType::Token => {}
                tile::TileType::Tensor(tensor) => {
                    let carrier = carrier(&tensor.element)?;
                    let layout = self.layout_of(value)?;
                    types.extend(std::iter::repeat_n(carrier, 1 << layout.in_bits(Dim::REGISTER)));
                }
                tile::TileType::Memory(_) => types.push(Type::Pointer(tilewright_kernel::MemorySpace::Shared)),
                tile::TileType::Descriptor(_) => {
                    return Err(Reason::unsupported("a descriptor that one of several regions makes"));
                }
                _ => types.push(carrier(ty)?),
            }
        }
        Ok(types)
    }
}
