//! Appends single operations: those of the operation table whose result types follow from their operands, and those
//! that compute the types or fields of their results here.

use tilewright_layout::IndexBuilder;

use super::Builder;
use crate::op::operations;
use crate::{
    Atomic, BarrierAction, Binary, Cast, ClockCounter, CollectiveScope, Compare, Element, Issuers, MathFunction,
    MemoryOrder, MemoryScope, Op, Queue, RegisterChange, ShuffleMode, SpecialRegister, Type, Unary, Value,
};

/// Generates the builder method that a row of the operation table names; the method's parameters are the fields of the
/// operation.
macro_rules! method {
    ([] $($row:tt)*) => {};
    ([$method:ident] none $(#[$doc:meta])* $variant:ident { $($field:ident: $type:ty),* }) => {
        $(#[$doc])*
        pub fn $method(&mut self, $($field: $type),*) {
            self.effect(Op::$variant { $($field),* });
        }
    };
    ([$method:ident] one $(#[$doc:meta])* $variant:ident { $($field:ident: $type:ty),* }) => {
        $(#[$doc])*
        pub fn $method(&mut self, $($field: $type),*) -> Value {
            self.append_inferred(Op::$variant { $($field),* })
        }
    };
}

macro_rules! define {
    ($(
        $(#[$doc:meta])* $name:ident $variant:ident $(in_bytes($earlier:literal))? $(($one:ident: $one_type:ty))?
        $({ $($(#[$about:meta])* $field:ident: $type:ty $(= $what:literal)? $(where $rule:expr)?),* $(,)? })?
        [$($text:tt)*] -> $count:ident $(($given:expr))? $(at_best($best:expr))? $(needs($control:expr))? $(fn $method:ident)?;
    )*) => {
        /// Builder methods generated from the table of operations, for rows whose operands determine the type of the
        /// result.
        impl Builder {
            $(method! { [$($method)?] $count $(#[$doc])* $variant { $($($field: $type),*)? } })*
        }
    };
}

operations!(define);

impl Builder {
    /// Appends a constant; for a vector, `bits` are the bits of every element.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.value(ty, Op::Constant { bits })
    }

    /// Appends a value with arbitrary bits, for a scalar or vector that is never used.
    pub fn unspecified(&mut self, ty: Type) -> Value {
        self.value(ty, Op::Unspecified {})
    }

    /// Appends a 32-bit integer constant.
    pub fn i32(&mut self, value: u32) -> Value {
        self.constant(Type::Scalar(Element::I32), u64::from(value))
    }

    /// Appends a read of a value that the hardware supplies, such as the lane index; an `i32`.
    pub fn special(&mut self, register: SpecialRegister) -> Value {
        self.value(Type::Scalar(Element::I32), Op::Special(register))
    }

    /// Appends the operation `op` on the 32-bit value `a` and the constant `b`; returns the result.
    pub fn binary_const(&mut self, op: Binary, a: Value, b: u32) -> Value {
        let b = self.i32(b);
        self.binary(op, a, b)
    }

    /// Appends the conversion `op` of `a` to the type `ty`; returns `a` and appends nothing if `a` has this type
    /// already.
    pub fn cast(&mut self, op: Cast, a: Value, ty: Type) -> Value {
        if self.type_of(a) == ty { a } else { self.value(ty, Op::Cast { op, a }) }
    }

    /// Appends the packing of scalars of one type to a vector, whose element 0 is the first scalar; a single scalar
    /// stays as it is.
    pub fn pack(&mut self, elements: &[Value]) -> Value {
        match elements {
            [single] => *single,
            _ => {
                let element = elements.first().and_then(|&v| self.type_of(v).element()).unwrap_or(Element::I1);
                let ty = Type::Vector(element, elements.len() as u32);
                self.value(ty, Op::Pack { elements: elements.to_vec() })
            }
        }
    }

    /// Appends the extraction of element `index` of a vector; element 0 of a scalar is the scalar itself.
    pub fn extract(&mut self, vector: Value, index: u32) -> Value {
        match self.type_of(vector) {
            Type::Vector(element, _) => self.value(Type::Scalar(element), Op::Extract { vector, index }),
            _ => vector,
        }
    }

    /// Appends a byte permute: selects four bytes of two `i32`s by the nibbles of the selector.
    pub fn permute_bytes(&mut self, a: Value, b: Value, selector: u16) -> Value {
        self.value(Type::Scalar(Element::I32), Op::PermuteBytes { a, b, selector, alternative: None })
    }

    /// As [`Builder::permute_bytes`], but lanes whose `alternative` condition is true use the other selector.
    pub fn permute_bytes_by_condition(
        &mut self,
        a: Value,
        b: Value,
        selector: u16,
        alternative: (Value, u16),
    ) -> Value {
        let alternative = Some(alternative);
        self.value(Type::Scalar(Element::I32), Op::PermuteBytes { a, b, selector, alternative })
    }

    /// Appends a load of a value of type `ty`, aligned to its width, from `pointer` plus `offset` bytes. Lanes whose
    /// predicate is false get zero; `None` means true.
    pub fn load(&mut self, ty: Type, pointer: Value, offset: i32, predicate: Option<Value>) -> Value {
        let alignment = ty.bits().div_ceil(8);
        self.value(ty, Op::Load { pointer, predicate, offset, alignment, other: None })
    }

    /// Appends a store of a value, aligned to its width, to `pointer` plus `offset` bytes. Lanes whose predicate is
    /// false store nothing; `None` means true.
    pub fn store(&mut self, pointer: Value, offset: i32, value: Value, predicate: Option<Value>) {
        let alignment = self.type_of(value).bits().div_ceil(8);
        self.effect(Op::Store { pointer, value, predicate, offset, alignment });
    }

    /// Appends a relaxed atomic read-modify-write of device scope; returns the old value. Lanes whose predicate is
    /// false get zero and access no memory; `None` means true.
    pub fn atomic_rmw(&mut self, op: Atomic, pointer: Value, value: Value, predicate: Option<Value>) -> Value {
        let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Device);
        self.value(self.type_of(value), Op::AtomicRmw { op, pointer, value, predicate, order, scope })
    }

    /// Appends a relaxed atomic compare-exchange of device scope; returns the old value. Lanes whose predicate is false
    /// get zero and access no memory; `None` means true.
    pub fn atomic_compare_exchange(
        &mut self,
        pointer: Value,
        expected: Value,
        value: Value,
        predicate: Option<Value>,
    ) -> Value {
        let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Device);
        let op = Op::AtomicCompareExchange { pointer, expected, value, predicate, order, scope };
        self.value(self.type_of(value), op)
    }

    /// Appends a math function; its result has the type of its operands.
    pub fn math(&mut self, function: MathFunction, operands: &[Value]) -> Value {
        let ty = operands.first().map_or(Type::Scalar(Element::F32), |&operand| self.type_of(operand));
        self.value(ty, Op::Math { function, operands: operands.to_vec() })
    }

    /// Appends an assertion, which stops the kernel with `message` if `condition` is false in a lane whose predicate is
    /// true.
    pub fn assert(&mut self, condition: Value, message: &str, predicate: Option<Value>) {
        self.effect(Op::Assert { condition, message: message.to_owned(), predicate });
    }

    /// Appends a print of `prefix` and the values of every lane; the values are printed in hexadecimal if `hex`,
    /// otherwise integers as signed.
    pub fn print(&mut self, prefix: &str, hex: bool, values: &[Value]) {
        self.effect(Op::Print { prefix: prefix.to_owned(), hex, values: values.to_vec(), index: None });
    }

    /// Appends inline assembly of a vendor, with results of the given types.
    pub fn assembly(&mut self, text: &str, constraints: &str, operands: &[Value], types: &[Type]) -> Vec<Value> {
        let (text, constraints, operands) = (text.to_owned(), constraints.to_owned(), operands.to_vec());
        self.values(types, Op::Assembly { text, constraints, operands })
    }

    /// Appends a shuffle: every lane reads a 32-bit value from lane `lane` of its warp.
    pub fn shuffle(&mut self, value: Value, lane: Value) -> Value {
        let ty = self.type_of(value);
        self.value(ty, Op::Shuffle { kind: ShuffleMode::Index, value, lane, issuers: Issuers::All })
    }

    /// Appends a shuffle: every lane reads a 32-bit value from the lane whose index differs in the bits of `mask`.
    pub fn shuffle_xor(&mut self, value: Value, mask: u32) -> Value {
        let ty = self.type_of(value);
        self.value(ty, Op::ShuffleXor { value, mask, issuers: Issuers::All })
    }

    /// Appends a swap: lanes whose index has the bit `lane` exchange their `a` with the `b` of the lanes without the
    /// bit. Returns the new `a` and `b`.
    pub fn swap(&mut self, a: Value, b: Value, lane: u32) -> [Value; 2] {
        let ty = self.type_of(a);
        let results = self.values(&[ty, ty], Op::Swap { a, b, lane, issuers: Issuers::All });
        [results[0], results[1]]
    }

    /// Appends a barrier at which all lanes of the scope wait for each other.
    pub fn barrier(&mut self, scope: CollectiveScope) {
        self.effect(Op::Barrier { scope, issuers: Issuers::All });
    }

    /// Appends a wait until at most `outstanding` commit groups of the queue are unfinished; returns the pending values
    /// as readable ones.
    pub fn wait(&mut self, queue: Queue, outstanding: u32, values: &[Value]) -> Vec<Value> {
        let types: Vec<_> = values.iter().map(|&value| self.type_of(value).after_wait()).collect();
        self.values(&types, Op::Wait { queue, outstanding, values: values.to_vec() })
    }
}

/// Emits the arithmetic that applies a layout to index values
/// ([`apply_layout`](tilewright_layout::apply_layout)) on `i32`.
impl IndexBuilder for Builder {
    type Value = Value;

    fn constant(&mut self, value: u64) -> Value {
        self.i32(value as u32)
    }

    fn and(&mut self, value: Value, mask: u64) -> Value {
        self.binary_const(Binary::And, value, mask as u32)
    }

    fn xor(&mut self, a: Value, b: Value) -> Value {
        self.binary(Binary::Xor, a, b)
    }

    fn shift_left(&mut self, value: Value, bits: u32) -> Value {
        self.binary_const(Binary::Shl, value, bits)
    }

    fn shift_right(&mut self, value: Value, bits: u32) -> Value {
        self.binary_const(Binary::ShrU, value, bits)
    }
}
