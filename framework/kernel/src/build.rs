//! Builds the body of a kernel, giving every value a number and a type.

use std::collections::BTreeMap;

use crate::op::{TypeRule, operations};
use crate::{
    Atomic, Binary, Cast, Compare, Element, Exchange, Issuers, Kernel, Launch, MAX_VALUES, MathFunction, MemoryOrder,
    MemoryScope, MemorySpace, Op, Parameter, Queue, Region, Scope, SharedBuffer, SpecialRegister, Statement, Type,
    Unary, Value,
};

/// Appends operations to a kernel under construction.
///
/// The builder gives results their types; whether operands fit is checked by
/// [`super::verify`] on the finished module.
#[derive(Debug)]
pub struct Builder {
    name: String,
    launch: Launch,
    parameters: Vec<Parameter>,
    shared: Vec<SharedBuffer>,
    types: Vec<Type>,
    /// Regions being built, the innermost last.
    open: Vec<Region>,
    /// Operations so far.
    appended: u64,
    /// How many of them are a function of numbers.
    functions: BTreeMap<(MathFunction, Element), u64>,
}

/// The method of a row that names one: its parameters are the fields, its result is the operation's.
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
            self.computed(Op::$variant { $($field),* })
        }
    };
}

macro_rules! define {
    ($(
        $(#[$doc:meta])* $name:ident $variant:ident $(($one:ident: $one_type:ty))?
        $({ $($(#[$about:meta])* $field:ident: $type:ty $(= $what:literal)? $(where $rule:expr)?),* $(,)? })?
        [$($text:tt)*] -> $count:ident $(($given:expr))? $(at_best($best:expr))? $(needs($control:expr))? $(fn $method:ident)?;
    )*) => {
        /// Operations whose results' types follow from their operands.
        impl Builder {
            $(method! { [$($method)?] $count $(#[$doc])* $variant { $($($field: $type),*)? } })*
        }
    };
}

operations!(define);

impl Builder {
    /// Starts a kernel; its parameters are values 0, 1, ...
    #[must_use]
    pub fn new(name: &str, launch: Launch, parameters: &[(&str, Type)]) -> Self {
        Self::with_parameters(name, launch, parameters.iter().map(|&(name, ty)| Parameter::plain(name, ty)).collect())
    }

    /// The same with parameters of any kind.
    #[must_use]
    pub fn with_parameters(name: &str, launch: Launch, parameters: Vec<Parameter>) -> Self {
        Self {
            name: name.to_owned(),
            launch,
            types: parameters.iter().map(|parameter| parameter.ty).collect(),
            parameters,
            shared: Vec::new(),
            open: vec![Region::default()],
            appended: 0,
            functions: BTreeMap::new(),
        }
    }

    /// Goes on after a kernel: new values have numbers of their own, those of the kernel their types. What is built is
    /// taken with [`Builder::apart`].
    pub fn continuing(kernel: &Kernel) -> Self {
        let mut builder = Self::with_parameters(&kernel.name, kernel.launch, kernel.parameters.clone());
        builder.types.resize(kernel.value_limit().min(MAX_VALUES) as usize, Type::Scalar(Element::I1));
        builder.learn(&kernel.body);
        builder
    }

    fn learn(&mut self, region: &Region) {
        let defined = region.arguments.iter().chain(region.statements.iter().flat_map(|statement| &statement.results));
        for &(value, ty) in defined {
            if let Some(own) = self.types.get_mut(value.0 as usize) {
                *own = ty;
            }
        }
        let inner = region.statements.iter().flat_map(|statement| statement.op.regions());
        inner.for_each(|region| self.learn(region));
    }

    /// What `build` gives, and the statements that it appends, which are left out of the kernel.
    pub fn apart<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> (T, Vec<Statement>) {
        self.open.push(Region::default());
        let given = build(self);
        (given, self.open.pop().unwrap_or_default().statements)
    }

    /// The finished kernel; regions left open are closed as they are.
    #[must_use]
    pub fn finish(mut self) -> Kernel {
        let body = self.open.drain(..).next().unwrap_or_default();
        Kernel { name: self.name, launch: self.launch, parameters: self.parameters, shared: self.shared, body }
    }

    /// The launch that the kernel is built for, as far as it is known.
    #[must_use]
    pub fn launch(&self) -> Launch {
        self.launch
    }

    /// Asks for a launch in clusters of so many blocks at least.
    pub fn in_clusters_of(&mut self, blocks: u32) {
        self.launch.blocks = self.launch.blocks.max(blocks);
    }

    /// Parameter number `index`.
    #[must_use]
    pub fn parameter(&self, index: u32) -> Value {
        Value(index)
    }

    /// The type of a value made by this builder; `i1` for one that was not.
    #[must_use]
    pub fn type_of(&self, value: Value) -> Type {
        self.types.get(value.0 as usize).copied().unwrap_or(Type::Scalar(Element::I1))
    }

    fn define(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// How many operations were appended so far, those within regions too.
    #[must_use]
    pub fn appended(&self) -> u64 {
        self.appended
    }

    /// How many of those are which function of which numbers.
    pub fn functions(&self) -> impl Iterator<Item = (MathFunction, Element, u64)> {
        self.functions.iter().map(|(&(function, element), &count)| (function, element, count))
    }

    fn append(&mut self, results: Vec<(Value, Type)>, op: Op) {
        self.appended += 1;
        if let (Op::Math { function, .. }, [(_, ty)]) = (&op, &results[..])
            && let Some(element) = ty.element()
        {
            *self.functions.entry((*function, element)).or_insert(0) += u64::from(ty.count());
        }
        if let Some(region) = self.open.last_mut() {
            region.statements.push(Statement { results, op });
        }
    }

    /// Appends an operation with one result of the given type.
    pub fn value(&mut self, ty: Type, op: Op) -> Value {
        let value = self.define(ty);
        self.append(vec![(value, ty)], op);
        value
    }

    /// Appends an operation with one result, whose type follows from its operands.
    fn computed(&mut self, op: Op) -> Value {
        let ty = match op.result_rule() {
            TypeRule::Is(ty) => ty,
            TypeRule::From(value, map) => map(self.type_of(value)),
            // Rows with methods say the type; of others it is given.
            TypeRule::Any | TypeRule::OneOf(_) => Type::Scalar(Element::I32),
        };
        self.value(ty, op)
    }

    /// Appends an operation with a result of each of the given types.
    pub fn values(&mut self, types: &[Type], op: Op) -> Vec<Value> {
        let results: Vec<_> = types.iter().map(|&ty| (self.define(ty), ty)).collect();
        let values = results.iter().map(|&(value, _)| value).collect();
        self.append(results, op);
        values
    }

    /// Appends an operation without results.
    pub fn effect(&mut self, op: Op) {
        self.append(Vec::new(), op);
    }

    /// A constant; for a vector, the bits of every element.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.value(ty, Op::Constant { bits })
    }

    /// A 32-bit integer constant.
    pub fn i32(&mut self, value: u32) -> Value {
        self.constant(Type::Scalar(Element::I32), u64::from(value))
    }

    /// A value that the hardware supplies, as `i32`.
    pub fn special(&mut self, register: SpecialRegister) -> Value {
        self.value(Type::Scalar(Element::I32), Op::Special(register))
    }

    /// Adds a shared buffer and gives its address.
    pub fn shared_buffer(&mut self, bytes: u32, alignment: u32) -> Value {
        self.shared.push(SharedBuffer::new(bytes, alignment));
        let buffer = self.shared.len() as u32 - 1;
        self.value(Type::Pointer(MemorySpace::Shared), Op::SharedAddress { buffer })
    }

    /// How many shared buffers there are so far.
    #[must_use]
    pub fn buffers(&self) -> u32 {
        self.shared.len() as u32
    }

    /// Appends the statements of a region that takes and gives nothing, but for what ends it.
    pub fn inline(&mut self, region: Region) {
        let Some(open) = self.open.last_mut() else { return };
        open.statements.extend(region.statements.into_iter().filter(|one| !matches!(one.op, Op::Yield { .. })));
    }

    /// An operation on a 32-bit value and a 32-bit constant.
    pub fn binary_const(&mut self, op: Binary, a: Value, b: u32) -> Value {
        let b = self.i32(b);
        self.binary(op, a, b)
    }

    /// A change of type; nothing where the type is the same already.
    pub fn cast(&mut self, op: Cast, a: Value, ty: Type) -> Value {
        if self.type_of(a) == ty { a } else { self.value(ty, Op::Cast { op, a }) }
    }

    /// A vector of scalars of one type; a single scalar stays as it is.
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

    /// Element `index` of a vector; a scalar is its own element 0.
    pub fn extract(&mut self, vector: Value, index: u32) -> Value {
        match self.type_of(vector) {
            Type::Vector(element, _) => self.value(Type::Scalar(element), Op::Extract { vector, index }),
            _ => vector,
        }
    }

    /// Four bytes of two `i32`s; nibbles of the selector say which.
    pub fn permute_bytes(&mut self, a: Value, b: Value, selector: u16) -> Value {
        self.value(Type::Scalar(Element::I32), Op::PermuteBytes { a, b, selector, alternative: None })
    }

    /// As [`Builder::permute_bytes`], by another selector in the lanes where the condition is true.
    pub fn permute_bytes_by(&mut self, a: Value, b: Value, selector: u16, alternative: (Value, u16)) -> Value {
        let alternative = Some(alternative);
        self.value(Type::Scalar(Element::I32), Op::PermuteBytes { a, b, selector, alternative })
    }

    /// Reads a value, aligned to its width.
    pub fn load(&mut self, ty: Type, pointer: Value, offset: i32, predicate: Option<Value>) -> Value {
        let alignment = ty.bits().div_ceil(8);
        self.value(ty, Op::Load { pointer, predicate, offset, alignment })
    }

    /// Writes a value, aligned to its width.
    pub fn store(&mut self, pointer: Value, offset: i32, value: Value, predicate: Option<Value>) {
        let alignment = self.type_of(value).bits().div_ceil(8);
        self.effect(Op::Store { pointer, value, predicate, offset, alignment });
    }

    /// Reads, changes and writes a scalar in one step, relaxed; gives what was read.
    pub fn atomic_rmw(&mut self, op: Atomic, pointer: Value, value: Value, predicate: Option<Value>) -> Value {
        let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Device);
        self.value(self.type_of(value), Op::AtomicRmw { op, pointer, value, predicate, order, scope })
    }

    /// Writes `value` where `expected` is, in one step, relaxed; gives what was there.
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

    /// A function of floating-point numbers.
    pub fn math(&mut self, function: MathFunction, operands: &[Value]) -> Value {
        let ty = operands.first().map_or(Type::Scalar(Element::F32), |&operand| self.type_of(operand));
        self.value(ty, Op::Math { function, operands: operands.to_vec() })
    }

    /// Ends the run where the condition is false.
    pub fn assert(&mut self, condition: Value, message: &str, predicate: Option<Value>) {
        self.effect(Op::Assert { condition, message: message.to_owned(), predicate });
    }

    /// Prints values of every lane.
    pub fn print(&mut self, prefix: &str, hex: bool, values: &[Value]) {
        self.effect(Op::Print { prefix: prefix.to_owned(), hex, values: values.to_vec() });
    }

    /// A vendor's assembly text, with a result of each of the given types.
    pub fn assembly(&mut self, text: &str, constraints: &str, operands: &[Value], types: &[Type]) -> Vec<Value> {
        let (text, constraints, operands) = (text.to_owned(), constraints.to_owned(), operands.to_vec());
        self.values(types, Op::Assembly { text, constraints, operands })
    }

    /// Reads a 32-bit value from another lane of the warp.
    pub fn exchange(&mut self, value: Value, lane: Value) -> Value {
        let ty = self.type_of(value);
        self.value(ty, Op::Exchange { kind: Exchange::Index, value, lane, issuers: Issuers::All })
    }

    /// Reads a 32-bit value from the lane whose index differs in the bits of `mask`.
    pub fn exchange_xor(&mut self, value: Value, mask: u32) -> Value {
        let ty = self.type_of(value);
        self.value(ty, Op::ExchangeXor { value, mask, issuers: Issuers::All })
    }

    /// `a` and `b` after lanes that differ in the bit `lane` of their index have traded.
    pub fn swap(&mut self, a: Value, b: Value, lane: u32) -> [Value; 2] {
        let ty = self.type_of(a);
        let results = self.values(&[ty, ty], Op::Swap { a, b, lane, issuers: Issuers::All });
        [results[0], results[1]]
    }

    /// A barrier of all lanes of the scope.
    pub fn barrier(&mut self, scope: Scope) {
        self.effect(Op::Barrier { scope, issuers: Issuers::All });
    }

    /// Waits until at most `outstanding` groups of the queue are unfinished; gives what the pending values
    /// are then.
    pub fn wait(&mut self, queue: Queue, outstanding: u32, values: &[Value]) -> Vec<Value> {
        let types: Vec<_> = values.iter().map(|&value| self.type_of(value).awaited()).collect();
        self.values(&types, Op::Wait { queue, outstanding, values: values.to_vec() })
    }

    /// Adds a shared buffer for an mbarrier of so many arrivals, makes it one and gives its address.
    pub fn mbarrier(&mut self, arrivals: u32) -> Value {
        let pointer = self.shared_buffer(8, 8);
        self.effect(Op::MbarrierInit { pointer, arrivals });
        pointer
    }

    /// Starts a region; [`Builder::end_region`] gives it back.
    pub fn begin_region(&mut self, arguments: &[Type]) -> Vec<Value> {
        let arguments: Vec<_> = arguments.iter().map(|&ty| (self.define(ty), ty)).collect();
        let values = arguments.iter().map(|&(value, _)| value).collect();
        self.open.push(Region { arguments, statements: Vec::new() });
        values
    }

    /// Ends the innermost region with the values that it yields.
    pub fn end_region(&mut self, values: &[Value]) -> Region {
        self.effect(Op::Yield { values: values.to_vec() });
        if self.open.len() > 1 { self.open.pop().unwrap_or_default() } else { Region::default() }
    }

    /// Appends an `if` with the given regions; results have the given types.
    pub fn if_else(&mut self, condition: Value, then: Region, otherwise: Region, types: &[Type]) -> Vec<Value> {
        self.values(types, Op::If { condition, then, otherwise })
    }

    /// Appends a loop; `body` was begun with `i32` and the types of the carried values.
    pub fn for_loop(&mut self, from: Value, to: Value, step: Value, carried: &[Value], body: Region) -> Vec<Value> {
        let types: Vec<_> = carried.iter().map(|&value| self.type_of(value)).collect();
        self.values(&types, Op::For { from, to, step, carried: carried.to_vec(), body })
    }

    /// Appends a loop that runs at least once; `body` was begun with the types of the carried values and yields an
    /// `i1`, whether to run again, before the new ones.
    pub fn while_loop(&mut self, carried: &[Value], body: Region) -> Vec<Value> {
        let types: Vec<_> = carried.iter().map(|&value| self.type_of(value)).collect();
        self.values(&types, Op::While { carried: carried.to_vec(), body })
    }
}
