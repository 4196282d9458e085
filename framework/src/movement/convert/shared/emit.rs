//! A round trip through scratch memory as kernel IR.

use crate::kernel::{Builder, Value};

use super::super::super::address::Thread;
use super::super::super::tile::{Loads, Stores};
use super::Scratch;

impl Scratch {
    pub(in super::super) fn emit(&self, builder: &mut Builder, registers: &[Value]) -> Vec<Value> {
        let buffer = builder.shared_buffer(self.bytes as u32, 16);
        let thread = Thread::new(builder, self.lane_bits);
        let mut stores = Stores::new(builder, &self.store, thread, buffer, &[]);
        let mut loads = Loads::new(builder, &self.load, thread, buffer, &[]);
        for round in 0..self.rounds() {
            if round > 0 {
                builder.barrier(self.scope);
            }
            stores.round(builder, round, registers);
            builder.barrier(self.scope);
            loads.round(builder, round);
        }
        loads.finish()
    }
}
