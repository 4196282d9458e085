//! Random programs that store and load the slots of one allocation in shared memory: no barrier is missing, and hardly
//! any barrier is needless, as the emulator's race detector shows.

use crate::prelude::*;
use tilewright_kernel::{CollectiveScope, Region};

/// Elements of a slot: 4 warps x 32 lanes, one each.
const ELEMENTS: u32 = 128;
const SLOTS: i64 = 3;

/// The index of a slot as arithmetic in a loop, with the loop's index `i` or with a counter that begins at `first`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Slot {
    Constant(i64),
    /// `(i + n) % 3`.
    Remainder(i64),
    /// The counter; a comparison and a select reset it to zero at its end.
    Counter,
    /// The counter of the next iteration.
    NextCounter,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Store(Slot),
    Load(Slot),
}

#[derive(Debug)]
struct Program {
    first: i64,
    actions: Vec<Action>,
    /// Whether the last action is in a branch that only even iterations execute.
    branches: bool,
}

/// A sequence of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }

    fn program(&mut self) -> Program {
        let actions = (0..2 + self.below(4)).map(|_| {
            let slot = match self.below(6) {
                0 => Slot::Constant(self.below(SLOTS as u64) as i64),
                1..4 => Slot::Remainder(self.below(SLOTS as u64) as i64),
                4 => Slot::Counter,
                _ => Slot::NextCounter,
            };
            if self.below(2) == 0 { Action::Store(slot) } else { Action::Load(slot) }
        });
        let actions = actions.collect();
        Program { first: self.below(SLOTS as u64) as i64, actions, branches: self.below(4) == 0 }
    }
}

const MEMORY: &str = "!ttg.memdesc<128xi32, #shared, #smem, mutable>";

impl Program {
    fn text(&self) -> String {
        let fill = |slot: i64| {
            format!(
                "    %f{slot} = ttg.memdesc_index %slots[%c{slot}] : !ttg.memdesc<3x128xi32, #shared, #smem, mutable> -> {MEMORY}
    ttg.local_store %rows, %f{slot} : tensor<128xi32, #rows> -> {MEMORY}\n"
            )
        };
        let fills: String = (0..SLOTS).map(fill).collect();
        let mut body = "      %in = arith.addi %w, %c1 : i32
      %full = arith.cmpi sge, %in, %c3 : i32
      %w2 = arith.select %full, %c0, %in : i32\n"
            .to_owned();
        let mut sum = "acc".to_owned();
        for (number, &action) in self.actions.iter().enumerate() {
            let branches = self.branches && number + 1 == self.actions.len();
            let (own, result) = Self::action(number, action, &sum);
            if !branches {
                body += &own;
            } else {
                let yields = |of: &str| format!("        scf.yield %{of} : tensor<128xi32, #columns>\n");
                body += &format!(
                    "      %bit = arith.andi %i, %c1 : i32\n      %even = arith.cmpi eq, %bit, %c0 : i32
      %branch = scf.if %even -> (tensor<128xi32, #columns>) {{\n{own}{}      }} else {{\n{}      }}\n",
                    yields(&result),
                    yields(&sum)
                );
            }
            sum = if branches { "branch".to_owned() } else { result };
        }
        format!(
            "#rows = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
#columns = #ttg.linear<{{register = [], lane = [[4], [8], [16], [32], [64]], warp = [[1], [2]], block = []}}>
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#smem = #ttg.shared_memory
module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32}} {{
  tt.func public @slots(%out: !tt.ptr<i32>, %n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %three = arith.constant dense<3> : tensor<128xi32, #columns>
    %zero = arith.constant dense<0> : tensor<128xi32, #columns>
    %first = arith.constant {} : i32
    %rows = tt.make_range {{start = 0 : i32, end = 128 : i32}} : tensor<128xi32, #rows>
    %places = tt.make_range {{start = 0 : i32, end = 128 : i32}} : tensor<128xi32, #columns>
    %slots = ttg.local_alloc : () -> !ttg.memdesc<3x128xi32, #shared, #smem, mutable>
{fills}    %sum, %last = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %w = %first) -> (tensor<128xi32, #columns>, i32) : i32 {{
{body}      scf.yield %{sum}, %w2 : tensor<128xi32, #columns>, i32
    }}
    %base = tt.splat %out : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #columns>
    %to = tt.addptr %base, %places : tensor<128x!tt.ptr<i32>, #columns>, tensor<128xi32, #columns>
    tt.store %to, %sum : tensor<128x!tt.ptr<i32>, #columns>
    tt.return
  }}
}}
",
            self.first
        )
    }

    /// Returns the statements of an action, and the name of the sum that they define.
    fn action(number: usize, action: Action, sum: &str) -> (String, String) {
        let (Action::Store(slot) | Action::Load(slot)) = action;
        let (index, at) = match slot {
            Slot::Constant(slot) => (String::new(), format!("c{slot}")),
            Slot::Counter => (String::new(), "w".to_owned()),
            Slot::NextCounter => (String::new(), "w2".to_owned()),
            Slot::Remainder(more) => (
                format!(
                    "      %i{number} = arith.addi %i, %c{more} : i32\n      %at{number} = arith.remsi %i{number}, %c3 : i32\n"
                ),
                format!("at{number}"),
            ),
        };
        let view = format!(
            "{index}      %m{number} = ttg.memdesc_index %slots[%{at}] : !ttg.memdesc<3x128xi32, #shared, #smem, mutable> -> {MEMORY}\n"
        );
        match action {
            Action::Store(_) => {
                let own = format!(
                    "      %k{number} = arith.constant dense<{}> : tensor<128xi32, #rows>
      %s{number} = tt.splat %i : i32 -> tensor<128xi32, #rows>
      %p{number} = arith.muli %s{number}, %k{number} : tensor<128xi32, #rows>
      %v{number} = arith.addi %p{number}, %rows : tensor<128xi32, #rows>
      ttg.local_store %v{number}, %m{number} : tensor<128xi32, #rows> -> {MEMORY}\n",
                    1000 * (number + 1)
                );
                (view + &own, sum.to_owned())
            }
            Action::Load(_) => {
                let own = format!(
                    "      %l{number} = ttg.local_load %m{number} : {MEMORY} -> tensor<128xi32, #columns>
      %t{number} = arith.muli %{sum}, %three : tensor<128xi32, #columns>
      %a{number} = arith.addi %t{number}, %l{number} : tensor<128xi32, #columns>\n"
                );
                (view + &own, format!("a{number}"))
            }
        }
    }

    /// Returns the results by executing the actions in order.
    fn expected(&self, iterations: i32) -> Vec<i32> {
        let element = |place: i32| {
            let (mut slots, mut sum, mut counter) = ([place; SLOTS as usize], 0i32, self.first);
            for i in 0..iterations {
                let next = (counter + 1) % SLOTS;
                for (number, &action) in self.actions.iter().enumerate() {
                    if self.branches && number + 1 == self.actions.len() && i % 2 == 1 {
                        continue;
                    }
                    let (Action::Store(slot) | Action::Load(slot)) = action;
                    let at = match slot {
                        Slot::Constant(slot) => slot,
                        Slot::Remainder(more) => (i64::from(i) + more) % SLOTS,
                        Slot::Counter => counter,
                        Slot::NextCounter => next,
                    };
                    match action {
                        Action::Store(_) => slots[at as usize] = i * 1000 * (number as i32 + 1) + place,
                        Action::Load(_) => sum = sum.wrapping_mul(3).wrapping_add(slots[at as usize]),
                    }
                }
                counter = next;
            }
            sum
        };
        (0..ELEMENTS as i32).map(element).collect()
    }

    fn run(&self, kernel: &Kernel, iterations: i32) -> Result<(), Fault> {
        let (left, _) =
            run_block(&target("a100"), kernel, &[InitialBuffer::Empty(4 * ELEMENTS as usize)], &[iterations as u64])?;
        let found: Vec<i32> =
            left[0].chunks_exact(4).map(|four| i32::from_le_bytes(four.try_into().unwrap())).collect();
        assert_eq!(found, self.expected(iterations), "{iterations} iterations of {self:?}");
        Ok(())
    }
}

/// Removes the block barrier with this number, in program order; returns the number of barriers before it, if there are
/// fewer.
fn remove_barrier(region: &mut Region, number: &mut Option<usize>) {
    region.statements.retain(|statement| {
        let is_barrier = matches!(statement.op, Op::Barrier { scope: CollectiveScope::Block, .. });
        match number {
            Some(0) if is_barrier => {
                *number = None;
                false
            }
            Some(left) if is_barrier => {
                *left -= 1;
                true
            }
            _ => true,
        }
    });
    // Barriers in nested regions follow those of the region itself.
    for statement in &mut region.statements {
        statement.op.regions_mut().into_iter().for_each(|inner| remove_barrier(inner, number));
    }
}

/// Checks random programs: each runs without a race and computes what the actions in order compute. Without any one of
/// its barriers nearly every program has a race.
#[test]
fn random_programs_have_the_barriers_that_they_need() {
    let (mut random, mut needed, mut needless) = (Random(35), 0, Vec::new());
    for _ in 0..150 {
        let program = random.program();
        let kernel = program_kernel(&target("a100"), &program.text())
            .unwrap_or_else(|error| panic!("{error}\n{}", program.text()));
        for iterations in [0, 1, 2, 7] {
            program.run(&kernel, iterations).unwrap_or_else(|fault| panic!("{fault}\n{program:?}\n{}", program.text()));
        }
        for number in 0.. {
            let (mut without, mut left) = (kernel.clone(), Some(number));
            remove_barrier(&mut without.body, &mut left);
            if left.is_some() {
                break;
            }
            let races = std::panic::catch_unwind(|| program.run(&without, 7).is_err()).unwrap_or(true);
            if races {
                needed += 1;
            } else {
                needless.push(format!("{program:?}"));
            }
        }
    }
    assert!(needed > 150, "{needed} barriers are needed");
    assert!(needless.len() * 20 <= needed, "{} of {needed} are needless\n{}", needless.len(), needless.join("\n"));
}
