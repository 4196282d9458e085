//! Builds the body of a kernel; assigns a number and a type to every value.

use std::collections::BTreeMap;

use crate::op::TypeRule;
use crate::{
    Element, Kernel, MAX_VALUES, MathFunction, MemorySpace, Op, Parameter, Region, SharedBuffer, Statement,
    StaticLaunchConfig, Type, Value,
};

mod operations;

/// Appends operations to a kernel under construction.
///
/// The builder computes the types of results; [`super::verify`] checks operands on the finished module.
///
/// # Examples
/// ```
/// use tilewright_kernel::{Binary, Builder, Element, MemorySpace, Module, SpecialRegister, StaticLaunchConfig, Type, verify};
/// // Each of 8 lanes doubles one integer.
/// let config = StaticLaunchConfig::new(8, 1);
/// let mut builder = Builder::new("double", config, &[("data", Type::Pointer(MemorySpace::Global))]);
/// let lane = builder.special(SpecialRegister::Lane);
/// let (data, offset) = (builder.parameter(0), builder.binary_const(Binary::Mul, lane, 4));
/// let address = builder.ptr_add(data, offset);
/// let value = builder.load(Type::Scalar(Element::I32), address, 0, None);
/// let twice = builder.binary(Binary::Add, value, value);
/// builder.store(address, 0, twice, None);
/// let module = Module { kernels: vec![builder.finish()] };
/// verify(&module)?;
/// assert!(module.to_string().starts_with("kernel double("));
/// # Ok::<(), tilewright_kernel::VerifyError>(())
/// ```
#[derive(Debug)]
pub struct Builder {
    name: String,
    launch: StaticLaunchConfig,
    parameters: Vec<Parameter>,
    shared: Vec<SharedBuffer>,
    types: Vec<Type>,
    /// The regions that have been started and not ended, the innermost last.
    open: Vec<Region>,
    /// Number of operations appended so far, including those in regions.
    op_count: u64,
    /// For each math function and element type, the number of appended operations.
    math_function_counts: BTreeMap<(MathFunction, Element), u64>,
    /// The source locations so far, and their indices.
    locations: Vec<String>,
    location_indices: BTreeMap<String, u32>,
    /// Index in `locations` of the source location of the operations that are appended; `None` if no location is set.
    location: Option<u32>,
}

impl Builder {
    /// Starts a kernel with scalar or pointer parameters, each given by name and type; the parameters are values 0, 1,
    /// ...
    #[must_use]
    pub fn new(name: &str, launch: StaticLaunchConfig, parameters: &[(&str, Type)]) -> Self {
        Self::with_parameters(
            name,
            launch,
            parameters.iter().map(|&(name, ty)| Parameter::scalar_or_pointer(name, ty)).collect(),
        )
    }

    /// Starts a kernel with parameters of any kind, tensor maps included; the parameters are values 0, 1, ...
    #[must_use]
    pub fn with_parameters(name: &str, launch: StaticLaunchConfig, parameters: Vec<Parameter>) -> Self {
        Self {
            name: name.to_owned(),
            launch,
            types: parameters.iter().map(|parameter| parameter.ty).collect(),
            parameters,
            shared: Vec::new(),
            open: vec![Region::default()],
            op_count: 0,
            math_function_counts: BTreeMap::new(),
            locations: Vec::new(),
            location_indices: BTreeMap::new(),
            location: None,
        }
    }

    /// Creates a builder for statements to insert into `kernel`: existing values keep their types, new values get
    /// unused numbers. [`Builder::build_detached`] returns the statements.
    pub fn extend(kernel: &Kernel) -> Self {
        let mut builder = Self::with_parameters(&kernel.name, kernel.launch, kernel.parameters.clone());
        builder.types.resize(kernel.value_number_limit().min(MAX_VALUES) as usize, Type::Scalar(Element::I1));
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

    /// Runs `build`, and returns its result with the statements that it appended, which are not added to the kernel.
    pub fn build_detached<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> (T, Vec<Statement>) {
        self.open.push(Region::default());
        let given = build(self);
        (given, self.open.pop().unwrap_or_default().statements)
    }

    /// Finishes the kernel; regions that are still open end here.
    #[must_use]
    pub fn finish(mut self) -> Kernel {
        let body = self.open.drain(..).next().unwrap_or_default();
        Kernel {
            name: self.name,
            launch: self.launch,
            parameters: self.parameters,
            shared: self.shared,
            body,
            locations: self.locations,
        }
    }

    /// Sets the source location of the operations that are appended after this call; returns the index of the previous
    /// location. `None` keeps the previous location, since an operation without a location belongs to the one around
    /// it.
    pub fn set_location(&mut self, location: Option<&str>) -> Option<u32> {
        let before = self.location;
        if let Some(location) = location {
            let next = self.locations.len() as u32;
            let index = match self.location_indices.get(location) {
                Some(&known) => known,
                None => {
                    self.locations.push(location.to_owned());
                    self.location_indices.insert(location.to_owned(), next);
                    next
                }
            };
            self.location = Some(index);
        }
        before
    }

    /// Sets the source location to an index that [`Self::set_location`] returned, or to one of the kernel that this
    /// builder extends; `None` for no location.
    pub fn restore_location(&mut self, location: Option<u32>) {
        self.location = location;
    }

    /// Returns the launch that the kernel is built for, with the cluster size and the registers that were required so
    /// far.
    #[must_use]
    pub fn launch(&self) -> StaticLaunchConfig {
        self.launch
    }

    /// Raises the launch's cluster size to at least `blocks` blocks.
    pub fn require_cluster_blocks(&mut self, blocks: u32) {
        self.launch.blocks = self.launch.blocks.max(blocks);
    }

    /// Raises the number of 32-bit registers of a lane that the kernel is compiled for to at least `registers`.
    pub fn require_registers(&mut self, registers: u32) {
        self.launch.registers = self.launch.registers.max(registers);
    }

    /// Returns the value of the parameter with this index.
    #[must_use]
    pub fn parameter(&self, index: u32) -> Value {
        Value(index)
    }

    /// Returns the type of a value of this builder; `i1` for an unknown value.
    #[must_use]
    pub fn type_of(&self, value: Value) -> Type {
        self.types.get(value.0 as usize).copied().unwrap_or(Type::Scalar(Element::I1))
    }

    fn define(&mut self, ty: Type) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// Returns the number of operations appended so far, including those in regions.
    #[must_use]
    pub fn appended(&self) -> u64 {
        self.op_count
    }

    /// Returns the math functions appended so far, each as function, element type and number of operations.
    pub fn functions(&self) -> impl Iterator<Item = (MathFunction, Element, u64)> {
        self.math_function_counts.iter().map(|(&(function, element), &count)| (function, element, count))
    }

    fn append(&mut self, results: Vec<(Value, Type)>, op: Op) {
        self.op_count += 1;
        if let (Op::Math { function, .. }, [(_, ty)]) = (&op, &results[..])
            && let Some(element) = ty.element()
        {
            *self.math_function_counts.entry((*function, element)).or_insert(0) += u64::from(ty.element_count());
        }
        if let Some(region) = self.open.last_mut() {
            region.statements.push(Statement { results, op, location: self.location });
        }
    }

    /// Appends an operation with one result of type `ty`.
    pub fn value(&mut self, ty: Type, op: Op) -> Value {
        let value = self.define(ty);
        self.append(vec![(value, ty)], op);
        value
    }

    /// Appends an operation with one result, whose type follows from the operation's type rule.
    fn append_inferred(&mut self, op: Op) -> Value {
        let ty = match op.result_rule() {
            TypeRule::Is(ty) => ty,
            TypeRule::From(value, map) => map(self.type_of(value)),
            // Only rows whose rule gives the type have a generated method; callers of other operations pass the type.
            TypeRule::Any | TypeRule::OneOf(_) => Type::Scalar(Element::I32),
        };
        self.value(ty, op)
    }

    /// Appends an operation with one result for each of the given types.
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

    /// Adds a static buffer in shared memory, with its size and alignment in bytes, and appends an operation that
    /// returns its address.
    pub fn shared_buffer(&mut self, bytes: u32, alignment: u32) -> Value {
        self.shared.push(SharedBuffer::new(bytes, alignment));
        let buffer = self.shared.len() as u32 - 1;
        self.value(Type::Pointer(MemorySpace::Shared), Op::SharedAddress { buffer })
    }

    /// Returns the number of shared buffers added so far.
    #[must_use]
    pub fn shared_buffer_count(&self) -> u32 {
        self.shared.len() as u32
    }

    /// Appends the statements of `region`, except its `yield`, to the innermost open region. `region` must have no
    /// arguments and yield no values.
    pub fn inline(&mut self, region: Region) {
        let Some(open) = self.open.last_mut() else { return };
        open.statements.extend(region.statements.into_iter().filter(|one| !matches!(one.op, Op::Yield { .. })));
    }

    /// Adds a shared buffer for an mbarrier, appends its initialization with this number of arrivals, and returns its
    /// address.
    pub fn mbarrier(&mut self, arrivals: u32) -> Value {
        let pointer = self.shared_buffer(8, 8);
        self.effect(Op::MbarrierInit { pointer, arrivals });
        pointer
    }

    /// Starts a region with arguments of these types, and returns the values of the arguments; [`Builder::end_region`]
    /// ends the region.
    pub fn begin_region(&mut self, arguments: &[Type]) -> Vec<Value> {
        let arguments: Vec<_> = arguments.iter().map(|&ty| (self.define(ty), ty)).collect();
        let values = arguments.iter().map(|&(value, _)| value).collect();
        self.open.push(Region { arguments, statements: Vec::new() });
        values
    }

    /// Ends the innermost open region with a `yield` of the given values, and returns the region.
    pub fn end_region(&mut self, values: &[Value]) -> Region {
        self.effect(Op::Yield { values: values.to_vec() });
        if self.open.len() > 1 { self.open.pop().unwrap_or_default() } else { Region::default() }
    }

    /// Appends an `if` that runs `then` or `otherwise`; both yield values of the given types. Returns the results.
    pub fn if_else(&mut self, condition: Value, then: Region, otherwise: Region, types: &[Type]) -> Vec<Value> {
        self.values(types, Op::If { condition, then, otherwise })
    }

    /// Appends the operations that `then` emits, as an `if` without results; without a condition, unconditionally.
    pub fn if_then(&mut self, condition: Option<Value>, then: impl FnOnce(&mut Self)) {
        let Some(condition) = condition else { return then(self) };
        self.begin_region(&[]);
        then(self);
        let then = self.end_region(&[]);
        self.begin_region(&[]);
        let otherwise = self.end_region(&[]);
        self.if_else(condition, then, otherwise, &[]);
    }

    /// Appends a `for` loop over the indices `from`, `from + step`, ... below `to`, and returns the carried values
    /// after it. The arguments of `body` are the index, an `i32`, and the carried values.
    pub fn for_loop(&mut self, from: Value, to: Value, step: Value, carried: &[Value], body: Region) -> Vec<Value> {
        let types: Vec<_> = carried.iter().map(|&value| self.type_of(value)).collect();
        self.values(&types, Op::For { from, to, step, carried: carried.to_vec(), body })
    }

    /// Appends a loop that runs at least once, and returns the carried values after it. `body` takes the carried
    /// values; it yields an `i1` (whether to repeat) and then the new carried values.
    pub fn while_loop(&mut self, carried: &[Value], body: Region) -> Vec<Value> {
        let types: Vec<_> = carried.iter().map(|&value| self.type_of(value)).collect();
        self.values(&types, Op::While { carried: carried.to_vec(), body })
    }
}
