//! Interprets functions of 32-bit integers, branch by branch, and records their output.

use std::collections::HashMap;

use tilewright_tile::{Attribute, Block, Function, FunctionBody, Op, Region, TileModule, Value};

/// The results of a function, and its printed output. A poison value is `None`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ran {
    pub given: Vec<Option<i64>>,
    pub printed: Vec<i64>,
}

pub fn run(module: &TileModule, name: &str, arguments: &[i64]) -> Ran {
    run_within(module, name, arguments, usize::MAX).expect("an end")
}

/// Interprets a function; `None` if it does not terminate within `most` prints.
pub fn run_within(module: &TileModule, name: &str, arguments: &[i64], most: usize) -> Option<Ran> {
    let mut printed = Vec::new();
    let function = module.find_function(name).expect("a function");
    let arguments = arguments.iter().map(|one| Some(*one)).collect::<Vec<_>>();
    let given = Frame::call(module, function, &arguments, &mut printed, most);
    (printed.len() <= most).then_some(Ran { given, printed })
}

struct Frame<'a> {
    module: &'a TileModule,
    body: &'a FunctionBody,
    values: HashMap<Value, Option<i64>>,
    printed: &'a mut Vec<i64>,
    /// Maximum number of prints.
    most: usize,
}

impl Frame<'_> {
    fn call(
        module: &TileModule,
        function: &Function,
        given: &[Option<i64>],
        printed: &mut Vec<i64>,
        most: usize,
    ) -> Vec<Option<i64>> {
        let body = function.body.as_ref().expect("a body");
        Frame { module, body, values: HashMap::new(), printed, most }.region(body.root(), given)
    }

    fn region(&mut self, region: Region, given: &[Option<i64>]) -> Vec<Option<i64>> {
        let mut next: (Block, Vec<Option<i64>>) = (self.body.blocks(region)[0], given.to_vec());
        loop {
            let (block, given) = next;
            self.set(self.body.arguments(block), &given);
            let (last, ops) = self.body.ops(block).split_last().expect("what ends the block");
            ops.iter().for_each(|op| self.op(*op));
            if self.printed.len() > self.most {
                return Vec::new();
            }
            let terminator = self.body.op(*last);
            let branch = |to: usize| {
                let successor = &terminator.successors[to];
                (successor.block, self.all(&terminator.operands[successor.operands.clone()]))
            };
            next = match terminator.name() {
                "cf.br" => branch(0),
                "cf.cond_br" => branch(usize::from(self.known(terminator.operands[0]) == 0)),
                "cf.switch" => {
                    let Some(Attribute::List(cases)) = terminator.attributes.get("case_values") else {
                        panic!("cases")
                    };
                    let flag = Some(self.known(terminator.operands[0]));
                    branch(cases.iter().position(|case| case.as_integer() == flag).map_or(0, |case| case + 1))
                }
                _ => return self.all(&terminator.operands),
            };
        }
    }

    fn op(&mut self, op: Op) {
        let operation = self.body.op(op);
        let given = match operation.name() {
            "arith.constant" => vec![operation.attributes.get("value").and_then(Attribute::as_integer)],
            "ub.poison" => vec![None],
            "arith.addi" => {
                vec![Some((self.known(operation.operands[0]) + self.known(operation.operands[1])) & 0xffff)]
            }
            "arith.muli" => {
                vec![Some((self.known(operation.operands[0]) * self.known(operation.operands[1])) & 0xffff)]
            }
            "arith.cmpi" => {
                let [a, b] = [0, 1].map(|index| self.known(operation.operands[index]));
                let holds = match operation.attributes.get("predicate").and_then(Attribute::as_text) {
                    Some("eq") => a == b,
                    Some("slt") => a < b,
                    other => panic!("predicate {other:?}"),
                };
                vec![Some(-i64::from(holds))]
            }
            "scf.if" => {
                let region = operation.regions[usize::from(self.known(operation.operands[0]) == 0)];
                if self.body.blocks(region).is_empty() { vec![] } else { self.region(region, &[]) }
            }
            "scf.while" => {
                let mut carried = self.all(&operation.operands);
                loop {
                    // The condition, and the values that are passed on.
                    let outputs = self.region(operation.regions[0], &carried);
                    let (condition, passed) = outputs.split_first().expect("a condition");
                    if condition.expect("poison is used") == 0 {
                        break passed.to_vec();
                    }
                    carried = self.region(operation.regions[1], passed);
                }
            }
            "scf.execute_region" => self.region(operation.regions[0], &[]),
            "tt.call" => {
                let callee = operation.attributes.get("callee").and_then(Attribute::as_text).expect("a callee");
                let callee = self.module.find_function(callee).expect("a function");
                Self::call(self.module, callee, &self.all(&operation.operands), self.printed, self.most)
            }
            "tt.print" => {
                let values = operation.operands.iter().map(|value| self.known(*value)).collect::<Vec<_>>();
                self.printed.extend(values);
                vec![]
            }
            other => panic!("`{other}` is not known here"),
        };
        self.set(&operation.results, &given);
    }

    fn set(&mut self, values: &[Value], given: &[Option<i64>]) {
        assert_eq!(values.len(), given.len());
        self.values.extend(values.iter().copied().zip(given.iter().copied()));
    }

    fn all(&self, values: &[Value]) -> Vec<Option<i64>> {
        values.iter().map(|value| self.values[value]).collect()
    }

    /// The value of an operand of a computation, which must not be poison.
    fn known(&self, value: Value) -> i64 {
        self.values[&value].expect("poison is used")
    }
}
