//! Kernels that each contain one operation of whole programs on one element type; the vendors' crates compile and
//! assemble them.

use crate::prelude::*;
use tilewright_kernel::{Atomic, MemoryOrder, MemoryScope};

const GLOBAL: Type = Type::Pointer(MemorySpace::Global);
const BIT: Type = Type::Scalar(Element::I1);
const WORD: Type = Type::Scalar(Element::I32);
pub const FLOATS: [Element; 4] = [Element::F16, Element::Bf16, Element::F32, Element::F64];
pub const INTEGERS: [Element; 4] = [Element::I8, Element::I16, Element::I32, Element::I64];

/// Builds a kernel named `name`. `body` emits its operations; it gets the address of 64 bytes that only this lane uses.
fn kernel(name: &str, launch: StaticLaunchConfig, body: impl FnOnce(&mut Builder, Value)) -> Kernel {
    let mut k = Builder::new(name, launch, &[("at", GLOBAL), ("n", WORD)]);
    let lane = k.special(SpecialRegister::Lane);
    let bytes = k.binary_const(Binary::Mul, lane, 64);
    let at = k.parameter(0);
    let address_of_thread = k.ptr_add(at, bytes);
    body(&mut k, address_of_thread);
    k.finish()
}

/// Builds a kernel that loads two values of type `ty`, and stores the result that `compute` emits. Booleans are
/// extended to 32-bit words before the store.
fn computing(
    name: &str,
    launch: StaticLaunchConfig,
    ty: Type,
    compute: impl FnOnce(&mut Builder, Value, Value) -> Value,
) -> Kernel {
    kernel(name, launch, |k, address_of_thread| {
        let (a, b) = (k.load(ty, address_of_thread, 0, None), k.load(ty, address_of_thread, 32, None));
        let mut result = compute(k, a, b);
        if k.type_of(result).element() == Some(Element::I1) {
            let wide = Type::vector_or_scalar(Element::I32, k.type_of(result).element_count());
            result = k.cast(Cast::ExtendU, result, wide);
        }
        k.store(address_of_thread, 0, result, None);
    })
}

/// Returns kernels with arithmetic, comparisons and casts of every element type, for scalars and vectors of two.
pub fn arithmetic(launch: StaticLaunchConfig) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let types = |elements: &[Element]| -> Vec<Type> {
        elements.iter().flat_map(|&element| [Type::Scalar(element), Type::Vector(element, 2)]).collect()
    };
    let named = |op: &str, ty: Type| format!("{op}_{}", ty.to_string().replace('x', "_x_"));
    let named = |op: &str, ty: Type| format!("k_{}", named(op, ty));
    for ty in types(&FLOATS) {
        for &op in Unary::ALL.iter().filter(|op| op.is_float()) {
            kernels.push(computing(&named(op.name(), ty), launch, ty, |k, a, _| k.unary(op, a)));
        }
        for &op in Binary::ALL.iter().filter(|op| op.is_float()) {
            kernels.push(computing(&named(op.name(), ty), launch, ty, |k, a, b| k.binary(op, a, b)));
        }
        for &op in Compare::ALL.iter().filter(|op| op.is_float()) {
            kernels.push(computing(&named(op.name(), ty), launch, ty, |k, a, b| k.compare(op, a, b)));
        }
        for to in INTEGERS {
            for op in [Cast::IntS, Cast::IntU] {
                let name = named(&format!("{}_{}", op.name(), to.name()), ty);
                kernels.push(computing(&name, launch, ty, |k, a, _| {
                    k.cast(op, a, Type::vector_or_scalar(to, ty.element_count()))
                }));
            }
        }
    }
    for ty in types(&INTEGERS) {
        for &op in Unary::ALL.iter().filter(|op| !op.is_float()) {
            kernels.push(computing(&named(op.name(), ty), launch, ty, |k, a, _| k.unary(op, a)));
        }
        for op in [Binary::DivS, Binary::RemS, Binary::MulHighU, Binary::MulHighS] {
            kernels.push(computing(&named(op.name(), ty), launch, ty, |k, a, b| k.binary(op, a, b)));
        }
    }
    kernels
}

/// Returns kernels with every atomic operation on every element type: in global and shared memory, with and without a
/// predicate, and with every order and scope.
pub fn atomics(launch: StaticLaunchConfig) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let elements = [Element::I32, Element::I64, Element::F16, Element::Bf16, Element::F32, Element::F64];
    for &op in Atomic::ALL {
        for element in elements.into_iter().filter(|&element| op.supports_element(element)) {
            let name = format!("atomic_{}_{}", op.name(), element.name());
            kernels.push(computing(&name, launch, Type::Scalar(element), |k, a, _| {
                let (at, shared) = (k.parameter(0), k.shared_buffer(8, 8));
                let n = k.parameter(1);
                let zero = k.i32(0);
                let some = k.compare(Compare::Ne, n, zero);
                let first = k.atomic_rmw(op, at, a, Some(some));
                k.atomic_rmw(op, shared, first, None)
            }));
        }
    }
    for element in [Element::I32, Element::I64] {
        let name = format!("atomic_compare_exchange_{}", element.name());
        kernels.push(computing(&name, launch, Type::Scalar(element), |k, a, b| {
            let (at, shared) = (k.parameter(0), k.shared_buffer(8, 8));
            let first = k.atomic_compare_exchange(at, a, b, None);
            k.atomic_compare_exchange(shared, first, b, None)
        }));
    }
    for &order in MemoryOrder::ALL {
        for &scope in MemoryScope::ALL {
            let name = format!("ordered_{}_{}", order.name(), scope.name());
            kernels.push(computing(&name, launch, WORD, |k, value, expected| {
                let (pointer, predicate) = (k.parameter(0), None);
                k.fence(scope);
                let op = Atomic::Add;
                let value = k.value(WORD, Op::AtomicRmw { op, pointer, value, predicate, order, scope });
                k.value(WORD, Op::AtomicCompareExchange { pointer, expected, value, predicate, order, scope })
            }));
        }
    }
    kernels
}

/// Returns kernels with each atomic addition of a vector that the target has, named `sum_ELEMENT_BITS`, and with
/// `_unused` if the old value has no use.
pub fn vector_additions(launch: StaticLaunchConfig, target: &TargetDescription) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for (row, element) in
        target.global.vector_adds.iter().flat_map(|row| row.elements.iter().map(move |one| (row, one)))
    {
        let element = *Element::ALL.iter().find(|one| one.name() == element).unwrap();
        for &bits in &row.access_bits {
            let ty = Type::Vector(element, bits / element.bits());
            let name = format!("sum_{}_{bits}", element.name());
            let sum = |k: &mut Builder, a| {
                let at = k.parameter(0);
                k.atomic_rmw(Atomic::FAdd, at, a, None)
            };
            kernels.push(computing(&name, launch, ty, |k, a, _| sum(k, a)));
            kernels.push(computing(&format!("{name}_unused"), launch, ty, |k, a, b| {
                sum(k, a);
                b
            }));
        }
    }
    kernels
}

/// Returns kernels with while loops, the grid's size, address arithmetic, assertions, prints and grid dependencies.
pub fn programs(launch: StaticLaunchConfig) -> Vec<Kernel> {
    let until = computing("collatz", launch, WORD, |k, a, _| {
        let zero = k.i32(0);
        let carried = k.begin_region(&[WORD, WORD]);
        let odd = k.binary_const(Binary::And, carried[0], 1);
        let one = k.i32(1);
        let odd = k.compare(Compare::Eq, odd, one);
        let half = k.binary_const(Binary::ShrU, carried[0], 1);
        let tripled = k.binary_const(Binary::Mul, carried[0], 3);
        let tripled = k.binary_const(Binary::Add, tripled, 1);
        let next = k.select(odd, tripled, half);
        let steps = k.binary_const(Binary::Add, carried[1], 1);
        let loop_condition = k.compare(Compare::Ne, next, one);
        let body = k.end_region(&[loop_condition, next, steps]);
        k.while_loop(&[a, zero], body)[1]
    });
    let once = kernel("nothing_carried", launch, |k, _| {
        k.begin_region(&[]);
        let never = k.constant(BIT, 0);
        let body = k.end_region(&[never]);
        k.while_loop(&[], body);
    });
    let grid = kernel("grid", launch, |k, address_of_thread| {
        for axis in 0..3 {
            let blocks = k.special(SpecialRegister::Programs(axis));
            let block = k.special(SpecialRegister::Program(axis));
            let product = k.binary(Binary::Mul, blocks, block);
            k.store(address_of_thread, 4 * i32::from(axis), product, None);
        }
    });
    let addresses = kernel("addresses", launch, |k, address_of_thread| {
        let number = k.cast(Cast::Bits, address_of_thread, Type::Scalar(Element::I64));
        let eight = k.constant(Type::Scalar(Element::I64), 8);
        let number = k.binary(Binary::Add, number, eight);
        let moved = k.cast(Cast::Bits, number, GLOBAL);
        k.store(moved, 0, number, None);
    });
    let prints = kernel("said", launch, |k, address_of_thread| {
        let value = k.load(WORD, address_of_thread, 0, None);
        let zero = k.i32(0);
        let holds = k.compare(Compare::LtS, zero, value);
        let odd = k.compare(Compare::Ne, value, zero);
        k.assert(holds, "above \"zero\"", Some(odd));
        k.print("100% of ", false, &[value, address_of_thread, holds]);
        for element in FLOATS {
            let number = k.load(Type::Vector(element, 4), address_of_thread, 0, None);
            k.print("numbers ", element == Element::F32, &[number]);
        }
        for element in INTEGERS {
            let number = k.load(Type::Vector(element, 4), address_of_thread, 0, None);
            k.print("numbers ", true, &[number]);
        }
        k.print("nothing", false, &[]);
    });
    let overlapped = kernel("overlapped", launch, |k, address_of_thread| {
        k.grid_dependency(true);
        let value = k.load(WORD, address_of_thread, 0, None);
        k.store(address_of_thread, 4, value, None);
        k.grid_dependency(false);
    });
    vec![until, once, grid, addresses, prints, overlapped]
}

/// Returns a kernel with an operation that a target file lists in `[[functions]]`: a cast, a binary operation or a math
/// function.
pub fn native_function_kernel(launch: StaticLaunchConfig, name: &str, element: &str) -> Kernel {
    let element = Element::ALL.into_iter().find(|known| known.name() == element).unwrap();
    match (Cast::from_name(name), Binary::from_name(name)) {
        (Some(cast), _) => listed_cast(launch, cast, element),
        (_, Some(binary)) => computing(name, launch, Type::Vector(element, 2), |k, a, b| k.binary(binary, a, b)),
        _ => math_function_kernel(launch, MathFunction::from_name(name).unwrap(), element),
    }
}

/// Returns a kernel with a cast that a target file lists for the type `listed`.
fn listed_cast(launch: StaticLaunchConfig, cast: Cast, listed: Element) -> Kernel {
    let (from, to) = match cast {
        Cast::FloatS | Cast::FloatU => (Element::I32, listed),
        Cast::RoundF | Cast::RoundZ => (Element::F32, listed),
        _ if cast.extended_format().is_some() => (Element::I8, listed),
        _ => (listed, Element::I8),
    };
    kernel(cast.name(), launch, |k, at| {
        let numbers = k.load(Type::Vector(from, 4), at, 0, None);
        let numbers = k.cast(cast, numbers, Type::Vector(to, 4));
        k.store(at, 32, numbers, None);
    })
}

/// Returns a kernel that applies a math function to vectors of two elements.
pub fn math_function_kernel(launch: StaticLaunchConfig, function: MathFunction, element: Element) -> Kernel {
    let name = format!("{}_{}", function.name(), element.name());
    computing(&name, launch, Type::Vector(element, 2), |k, a, b| k.math(function, &[a, b][..function.operand_count()]))
}
