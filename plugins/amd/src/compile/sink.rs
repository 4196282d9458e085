//! Moves the computation of MMA operands to the MMAs, so that fewer values are live at once.
//!
//! A block casts all elements of an operand before its first MMA. LLVM's scheduler seldom moves a cast behind an
//! MMA, and holds the whole operand in its wider type: three times the registers for a product of 8-bit floats.

use std::collections::{BTreeSet, HashMap, HashSet};

use tilewright_kernel::{Kernel, Module, Op, Region, Statement, Type, Value};

/// Returns the module with the casts to wider types that an instruction, such as an MMA, uses first, and the computations
/// before and after them, directly before the instruction.
pub(super) fn sink_operand_computations(module: &Module) -> Module {
    let mut sunk = module.clone();
    for kernel in &mut sunk.kernels {
        let registers = Registers::of(kernel);
        if !registers.widened.is_empty() {
            sink(&mut kernel.body, &registers);
        }
    }
    sunk
}

/// The registers of a kernel's values.
#[derive(Default)]
struct Registers {
    /// The values that are computed from casts to a wider type.
    widened: HashSet<Value>,
    /// The number of bits of each value; constants take no registers.
    bits: HashMap<Value, u32>,
}

impl Registers {
    fn of(kernel: &Kernel) -> Self {
        let mut registers = Self::default();
        for Statement { results, op, .. } in kernel.statements() {
            if !matches!(op, Op::Constant { .. }) {
                registers.bits.extend(results.iter().map(|(value, ty)| (*value, ty.bits())));
            }
            let operands = op.operands();
            let is_wider = |(_, ty): &&(Value, Type)| {
                let casts = matches!(op, Op::Cast { .. });
                casts && operands.iter().all(|from| registers.bits.get(from) < Some(&ty.bits()))
                    || operands.iter().any(|from| registers.widened.contains(from))
            };
            let wider = results.iter().filter(|_| is_computation(op)).filter(is_wider);
            let wider: Vec<Value> = wider.map(|(value, _)| *value).collect();
            registers.widened.extend(wider);
        }
        registers
    }

    /// Whether the operands of a statement take more registers than its results, so that more values would be live before
    /// it if it were executed later.
    fn narrows(&self, statement: &Statement) -> bool {
        let operands: BTreeSet<Value> = statement.op.operands().into_iter().collect();
        let operands: u32 = operands.iter().filter_map(|value| self.bits.get(value)).sum();
        operands > statement.results.iter().map(|(_, ty)| ty.bits()).sum()
    }
}

/// Moves the computations of a region that lead to wider values.
fn sink(region: &mut Region, registers: &Registers) {
    let statements = std::mem::take(&mut region.statements);
    let (mut first_use, mut sunk_operands) = (HashMap::new(), HashSet::new());
    // For each statement, the computations that are moved before it, the last one first.
    let mut before: Vec<Vec<Statement>> = (0..statements.len()).map(|_| Vec::new()).collect();
    let mut kept: Vec<Option<Statement>> = statements.into_iter().map(Some).collect();
    for at in (0..kept.len()).rev() {
        let Some(statement) = &kept[at] else { continue };
        let used = statement.results.iter().filter_map(|(value, _)| first_use.get(value)).min().copied();
        let is_instruction = |user: &usize| matches!(&kept[*user], Some(Statement { op: Op::Instruction { .. }, .. }));
        let leads = |(value, _): &(Value, Type)| registers.widened.contains(value) || sunk_operands.contains(value);
        let is_moved =
            is_computation(&statement.op) && statement.results.iter().any(leads) && !registers.narrows(statement);
        let to = used.filter(is_instruction).filter(|_| is_moved).unwrap_or(at);
        statement.op.visit_used_values(&mut |value| {
            first_use.entry(value).and_modify(|first: &mut usize| *first = to.min(*first)).or_insert(to);
        });
        if to > at {
            sunk_operands.extend(statement.op.operands());
            before[to].extend(kept[at].take());
        }
    }
    for (computations, statement) in before.into_iter().zip(kept) {
        region.statements.extend(computations.into_iter().rev());
        region.statements.extend(statement.map(|mut statement| {
            statement.op.regions_mut().into_iter().for_each(|inner| sink(inner, registers));
            statement
        }));
    }
}

/// Whether an operation computes elements of operands; comparisons and addresses do not, and constants take no registers.
fn is_computation(op: &Op) -> bool {
    op.is_arithmetic() && !matches!(op, Op::Constant { .. } | Op::Compare { .. } | Op::PtrAdd { .. })
}

#[cfg(test)]
mod tests {
    use tilewright_kernel::text;

    /// A cast that only an MMA uses, and the computations before and after it, follow the MMAs before, in their order.
    /// Loads stay, as do computations without a cast, and those that other operations use first.
    #[test]
    fn casts_of_operands_move_to_the_instructions_that_use_them() {
        let body = "
            %1: i32 = load %0 align 4
            %2: i16 = load %0 + 4 align 2
            %3: i16 = unary pop_count %2
            %4: i32 = cast extend_u %3
            %5: i32 = unary pop_count %4
            %6: i16 = unary pop_count %2
            %7: i32 = cast extend_u %6
            %8: i32 = unary pop_count %7
            %9: i32 = unary pop_count %1
            %10: i32 = instruction \"first\" %1
            store %0, %8 align 4
            %11: i32 = instruction \"second\" %5, %9
            store %0, %11 align 4";
        let kernel = format!("kernel k(%0 p: ptr.global) lanes 64 warps 1 {{{body}\n}}");
        let module = text::parse_module(&kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
        let sunk = super::sink_operand_computations(&module);
        let results = sunk.kernels[0].body.statements.iter().flat_map(|statement| &statement.results);
        assert_eq!(results.map(|(value, _)| value.0).collect::<Vec<_>>(), [1, 2, 6, 7, 8, 9, 10, 3, 4, 5, 11]);
        assert_eq!(super::sink_operand_computations(&sunk), sunk);
    }
}
