//! Finds addresses that are a scalar address plus an offset with a known bound, as accesses through a buffer descriptor
//! take them.

use std::collections::{HashMap, HashSet};

use tilewright_kernel::{Binary, Cast, Element, Kernel, Op, SpecialRegister, StaticLaunchConfig, Type, Value};

/// Offsets below this are non-negative numbers of 31 bits.
const OFFSET_LIMIT: u64 = 1 << 31;

/// An address as the sum of a scalar address and an offset in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScalarBase {
    /// The pointer, which parameters, constants and the indices of blocks and warps determine without memory.
    pub(crate) pointer: Value,
    /// The offset in bytes, not negative.
    pub(crate) bytes: Value,
    /// The greatest value of the offset, below 2^31.
    pub(crate) greatest: u64,
    /// The number of predicates under which the kernel stores to addresses with this scalar pointer.
    pub(crate) store_predicates: u32,
}

/// The scalar values of a kernel, and the greatest values of its integers.
#[derive(Default)]
pub(crate) struct ScalarBases {
    scalars: HashSet<Value>,
    /// The greatest value of an integer that is never negative.
    greatest: HashMap<Value, u64>,
    bases: HashMap<Value, ScalarBase>,
}

impl ScalarBases {
    /// Returns the addresses of a kernel that are such sums.
    pub(crate) fn find(kernel: &Kernel) -> Self {
        let mut found = Self::default();
        found.scalars.extend((0..kernel.parameters.len() as u32).map(Value));
        for statement in kernel.statements() {
            found.add(&statement.op, &statement.results, kernel.launch);
        }
        found.count_store_predicates(kernel);
        found
    }

    fn count_store_predicates(&mut self, kernel: &Kernel) {
        let mut predicates: HashMap<Value, HashSet<Value>> = HashMap::new();
        for statement in kernel.statements() {
            if let Op::Store { pointer, predicate: Some(predicate), .. } = &statement.op
                && let Some(base) = self.bases.get(pointer)
            {
                predicates.entry(base.pointer).or_default().insert(*predicate);
            }
        }
        for base in self.bases.values_mut() {
            base.store_predicates = predicates.get(&base.pointer).map_or(0, |found| found.len() as u32);
        }
    }

    /// Returns an address as such a sum; `None` if it is not known to be one.
    pub(crate) fn get(&self, pointer: Value) -> Option<ScalarBase> {
        self.bases.get(&pointer).copied()
    }

    /// Whether a value is equal in all lanes of a warp, and LLVM finds that it is.
    pub(crate) fn is_scalar(&self, value: Value) -> bool {
        self.scalars.contains(&value)
    }

    fn add(&mut self, op: &Op, results: &[(Value, Type)], launch: StaticLaunchConfig) {
        if let Op::For { from, step, body, .. } = op
            && let (true, Some(&(index, _))) = (self.are_scalar(&[*from, *step]), body.arguments.first())
        {
            self.scalars.insert(index);
        }
        let &[(result, ty)] = results else { return };
        let is_scalar = match op {
            Op::Special(register) => *register != SpecialRegister::Lane,
            op => (op.is_arithmetic() || matches!(op, Op::PtrAdd { .. })) && self.are_scalar(&op.operands()),
        };
        if is_scalar {
            self.scalars.insert(result);
        }
        if let Op::PtrAdd { pointer, bytes } = *op
            && let (true, Some(&greatest)) = (self.scalars.contains(&pointer), self.greatest.get(&bytes))
        {
            self.bases.insert(result, ScalarBase { pointer, bytes, greatest, store_predicates: 0 });
        }
        let is_integer = matches!(ty, Type::Scalar(Element::I32 | Element::I64));
        let greatest = self.find_greatest(op, launch).filter(|&greatest| is_integer && greatest < OFFSET_LIMIT);
        self.greatest.extend(greatest.map(|greatest| (result, greatest)));
    }

    fn are_scalar(&self, values: &[Value]) -> bool {
        values.iter().all(|value| self.scalars.contains(value))
    }

    /// Returns the greatest result of an operation on integers that is never negative; `None` if it is not known. The
    /// result may exceed the integers of its type, and is then no result.
    fn find_greatest(&self, op: &Op, launch: StaticLaunchConfig) -> Option<u64> {
        let greatest = |value: &Value| self.greatest.get(value).copied();
        match op {
            Op::Constant { bits } => Some(*bits),
            Op::Special(SpecialRegister::Lane) => Some(u64::from(launch.lanes) - 1),
            Op::Special(SpecialRegister::Warp) => Some(u64::from(launch.warps) - 1),
            Op::Binary { op: Binary::And, a, b } => greatest(a).into_iter().chain(greatest(b)).min(),
            Op::Binary { op, a, b } => find_greatest_binary(*op, greatest(a)?, greatest(b)?),
            Op::Select { a, b, .. } => Some(greatest(a)?.max(greatest(b)?)),
            Op::Cast { op: Cast::ExtendS | Cast::ExtendU | Cast::Truncate, a } => greatest(a),
            Op::AssumeUniform { value, .. } => greatest(value),
            _ => None,
        }
    }
}

/// Returns the greatest result of an operation on integers from 0 to `a` and from 0 to `b`; `None` if it may be
/// negative or is not known.
fn find_greatest_binary(op: Binary, a: u64, b: u64) -> Option<u64> {
    match op {
        Binary::Add => Some(a + b),
        Binary::Mul => Some(a * b),
        Binary::Or | Binary::Xor => Some((a.max(b) + 1).next_power_of_two() - 1),
        Binary::Shl => (b < 32).then(|| a << b),
        Binary::ShrU | Binary::ShrS => Some(a),
        _ => None,
    }
}
