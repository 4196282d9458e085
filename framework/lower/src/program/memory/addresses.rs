//! The addresses of a tensor of pointers, as the accesses of its elements take them.

use std::sync::Arc;

use tilewright_kernel::Value;
use tilewright_layout::LinearLayout;
use tilewright_target::Optimization;
use tilewright_tile as tile;

use super::super::error::Lowered;
use super::super::lowering::Lowering;
use super::super::register_differences::RegisterDifferences;

/// An address as a pointer, which several registers may share, and a constant number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct ElementAddress {
    pub pointer: Value,
    pub offset: i32,
}

impl<'a> Lowering<'a> {
    /// Returns the widths in bits of the accesses of global memory that loads and stores may take; none if each element
    /// is accessed alone.
    pub(super) fn global_access_bits(&self) -> &'a [u32] {
        let context = &self.config.context;
        if context.enables(Optimization::VectorAccesses) { &context.target.global.access_bits } else { &[] }
    }

    /// Returns the addresses of all registers of a tensor of pointers in a layout. Where axis information gives the
    /// difference of two pointers, the address is the first pointer with an offset, so that an access instruction adds
    /// it.
    pub(in super::super) fn addresses_in(
        &mut self,
        pointer: tile::Value,
        layout: &Arc<LinearLayout>,
    ) -> Lowered<Vec<ElementAddress>> {
        let pointers = self.registers_in(pointer, layout)?;
        let info = self.axis_info.get_proven(pointer);
        let info = info.filter(|_| self.config.context.enables(Optimization::ConstantOffsets));
        let differences = RegisterDifferences::of(layout, info);
        let address = |register: usize| {
            let (source, bytes) = differences.source(register);
            match i32::try_from(bytes) {
                Ok(offset) => ElementAddress { pointer: pointers[source], offset },
                Err(_) => ElementAddress { pointer: pointers[register], offset: 0 },
            }
        };
        Ok((0..pointers.len()).map(address).collect())
    }
}
