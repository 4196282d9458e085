//! Operations from text, each after its word.

use super::{Parsed, Parser};
use crate::text::token::Token;
use crate::{
    Atomic, Binary, Cast, Compare, Exchange, Issuers, MathFunction, MemoryOrder, MemoryScope, Op, Queue, Scope,
    SpecialRegister, Unary, Value,
};

impl Parser<'_> {
    pub(super) fn op(&mut self) -> Parsed<Op> {
        let word = self.one_of("an operation", &Op::NAMES, |name| name)?;
        match word {
            "if" => self.if_else(),
            "for" => self.for_loop(),
            "while" => {
                let carried = if self.take_word("carry") { self.values()? } else { Vec::new() };
                Ok(Op::While { carried, body: self.region()? })
            }
            word => self.flat_op(word),
        }
    }

    /// An operation without regions. It is apart from the others so that those, which nest, take little stack.
    fn flat_op(&mut self, word: &str) -> Parsed<Op> {
        match word {
            "constant" => Ok(Op::Constant { bits: self.number("64 bits")? }),
            "special" => self.special(),
            "shared_address" => Ok(Op::SharedAddress { buffer: self.number("the number of a buffer")? }),
            "cluster_address" => Ok(Op::ClusterAddress { pointer: self.value()?, block: self.next_value()? }),
            "unary" => {
                let op = self.one_of("an operation on one value", Unary::ALL, Unary::name)?;
                Ok(Op::Unary { op, a: self.value()? })
            }
            "binary" => {
                let op = self.one_of("an operation on two values", Binary::ALL, Binary::name)?;
                Ok(Op::Binary { op, a: self.value()?, b: self.next_value()? })
            }
            "f_mul_add" => Ok(Op::FMulAdd { a: self.value()?, b: self.next_value()?, c: self.next_value()? }),
            "compare" => {
                let op = self.one_of("a comparison", Compare::ALL, Compare::name)?;
                Ok(Op::Compare { op, a: self.value()?, b: self.next_value()? })
            }
            "select" => Ok(Op::Select { condition: self.value()?, a: self.next_value()?, b: self.next_value()? }),
            "same" => {
                let scope = self.one_of("a scope", Scope::ALL, Scope::name)?;
                Ok(Op::Same { value: self.value()?, scope })
            }
            "cast" => {
                let op = self.one_of("a cast", Cast::ALL, Cast::name)?;
                Ok(Op::Cast { op, a: self.value()? })
            }
            "pack" => Ok(Op::Pack { elements: self.values()? }),
            "extract" => {
                let vector = self.value()?;
                self.mark(',')?;
                Ok(Op::Extract { vector, index: self.number("the index of an element")? })
            }
            "permute_bytes" => self.permute_bytes(),
            "advance" => Ok(Op::Advance { pointer: self.value()?, bytes: self.next_value()? }),
            "load" => self.load(),
            "store" => self.store(),
            "atomic_rmw" => self.atomic_rmw(),
            "atomic_compare_exchange" => self.atomic_compare_exchange(),
            "fence" => Ok(Op::Fence { scope: self.memory_scope()? }),
            "math" => {
                let function = self.one_of("a function", MathFunction::ALL, MathFunction::name)?;
                Ok(Op::Math { function, operands: self.values()? })
            }
            "assert" => self.assert(),
            "print" => self.print(),
            "assembly" => {
                let (text, constraints) = (self.quoted("the assembly text")?, self.quoted("the constraints")?);
                Ok(Op::Assembly { text, constraints, operands: self.values()? })
            }
            "grid_dependency" => {
                let word = self.one_of("what to do", &["wait", "launch"], |name| name)?;
                Ok(Op::GridDependency { wait: word == "wait" })
            }
            "exchange" => self.exchange(),
            "exchange_xor" => self.exchange_xor(),
            "swap" => self.swap(),
            "barrier" => {
                let scope = self.one_of("a scope", Scope::ALL, Scope::name)?;
                Ok(Op::Barrier { scope, issuers: self.one_of("the issuers", Issuers::ALL, Issuers::name)? })
            }
            "group_barrier" => {
                let number = self.number("the number of a barrier")?;
                Ok(Op::GroupBarrier { number, warps: self.next_number("a number of warps")? })
            }
            "pend" => Ok(Op::Pend { queue: self.queue()?, value: self.value()? }),
            "commit" => Ok(Op::Commit { queue: self.queue()? }),
            "wait" => {
                let (queue, outstanding) = (self.queue()?, self.number("how many groups may be unfinished")?);
                Ok(Op::Wait { queue, outstanding, values: self.values()? })
            }
            "mbarrier_init" => {
                let (pointer, arrivals) = (self.value()?, self.next_number("a number of arrivals")?);
                Ok(Op::MbarrierInit { pointer, arrivals })
            }
            "mbarrier_arrive" => {
                let (pointer, bytes) = (self.value()?, self.next_number("a number of bytes")?);
                Ok(Op::MbarrierArrive { pointer, bytes })
            }
            "mbarrier_wait" => Ok(Op::MbarrierWait { pointer: self.value()?, phase: self.next_value()? }),
            "mbarrier_commit" => Ok(Op::MbarrierCommit { queue: self.queue()?, pointer: self.value()? }),
            "tensor_allocate" => {
                let (pointer, columns) = (self.value()?, self.next_number("a number of columns")?);
                Ok(Op::TensorAllocate { pointer, columns })
            }
            "tensor_free" => {
                let (address, columns) = (self.value()?, self.next_number("a number of columns")?);
                Ok(Op::TensorFree { address, columns })
            }
            "proxy_fence" => Ok(Op::ProxyFence {}),
            "instruction" => self.instruction(),
            _ => Ok(Op::Yield { values: self.values()? }),
        }
    }

    fn queue(&mut self) -> Parsed<Queue> {
        self.one_of("a queue", Queue::ALL, Queue::name)
    }

    fn next_number(&mut self, what: &str) -> Parsed<u32> {
        self.mark(',')?;
        self.number(what)
    }

    fn special(&mut self) -> Parsed<Op> {
        let word = self.one_of("a special register", &["lane", "warp", "block", "program", "programs"], |name| name)?;
        Ok(Op::Special(match word {
            "lane" => SpecialRegister::Lane,
            "warp" => SpecialRegister::Warp,
            "block" => SpecialRegister::Block,
            "programs" => SpecialRegister::Programs(self.number("an axis of the grid")?),
            _ => SpecialRegister::Program(self.number("an axis of the grid")?),
        }))
    }

    fn load(&mut self) -> Parsed<Op> {
        let (pointer, offset) = (self.value()?, self.offset()?);
        let (alignment, predicate) = self.access()?;
        Ok(Op::Load { pointer, predicate, offset, alignment })
    }

    fn store(&mut self) -> Parsed<Op> {
        let (pointer, offset) = (self.value()?, self.offset()?);
        let value = self.next_value()?;
        let (alignment, predicate) = self.access()?;
        Ok(Op::Store { pointer, value, predicate, offset, alignment })
    }

    fn offset(&mut self) -> Parsed<i32> {
        let sign = match self.peek() {
            Token::Mark('+') => 1,
            Token::Mark('-') => -1,
            _ => return Ok(0),
        };
        self.step();
        let at = self.at;
        let offset = sign * i64::from(self.number::<u32>("an offset in bytes")?);
        i32::try_from(offset).or_else(|_| {
            self.at = at;
            self.error("the offset does not fit into 32 bits".to_owned())
        })
    }

    fn access(&mut self) -> Parsed<(u32, Option<Value>)> {
        self.keyword("align")?;
        let alignment = self.number("an alignment")?;
        Ok((alignment, self.predicate()?))
    }

    fn predicate(&mut self) -> Parsed<Option<Value>> {
        if self.on_same_line() && self.take_word("if") { self.value().map(Some) } else { Ok(None) }
    }

    fn memory_order(&mut self) -> Parsed<MemoryOrder> {
        self.one_of("an order", MemoryOrder::ALL, MemoryOrder::name)
    }

    fn memory_scope(&mut self) -> Parsed<MemoryScope> {
        self.one_of("among whom", MemoryScope::ALL, MemoryScope::name)
    }

    fn atomic_rmw(&mut self) -> Parsed<Op> {
        let op = self.one_of("an atomic operation", Atomic::ALL, Atomic::name)?;
        let (order, scope) = (self.memory_order()?, self.memory_scope()?);
        let (pointer, value) = (self.value()?, self.next_value()?);
        Ok(Op::AtomicRmw { op, pointer, value, predicate: self.predicate()?, order, scope })
    }

    fn atomic_compare_exchange(&mut self) -> Parsed<Op> {
        let (order, scope) = (self.memory_order()?, self.memory_scope()?);
        let (pointer, expected, value) = (self.value()?, self.next_value()?, self.next_value()?);
        Ok(Op::AtomicCompareExchange { pointer, expected, value, predicate: self.predicate()?, order, scope })
    }

    fn assert(&mut self) -> Parsed<Op> {
        let condition = self.value()?;
        self.mark(',')?;
        Ok(Op::Assert { condition, message: self.quoted("the message")?, predicate: self.predicate()? })
    }

    fn print(&mut self) -> Parsed<Op> {
        let prefix = self.quoted("what comes before the values")?;
        let hex = self.on_same_line() && self.take_word("hex");
        Ok(Op::Print { prefix, hex, values: self.values()? })
    }

    fn exchange(&mut self) -> Parsed<Op> {
        let kind = self.one_of("a kind of exchange", Exchange::ALL, Exchange::name)?;
        let issuers = self.one_of("the issuers", Issuers::ALL, Issuers::name)?;
        Ok(Op::Exchange { kind, issuers, value: self.value()?, lane: self.next_value()? })
    }

    fn exchange_xor(&mut self) -> Parsed<Op> {
        let mask = self.number("the bits in which lane indices differ")?;
        let issuers = self.one_of("the issuers", Issuers::ALL, Issuers::name)?;
        Ok(Op::ExchangeXor { mask, issuers, value: self.value()? })
    }

    fn swap(&mut self) -> Parsed<Op> {
        let lane = self.number("a power of two of the lane index")?;
        let issuers = self.one_of("the issuers", Issuers::ALL, Issuers::name)?;
        Ok(Op::Swap { lane, issuers, a: self.value()?, b: self.next_value()? })
    }

    fn permute_bytes(&mut self) -> Parsed<Op> {
        let (a, b) = (self.value()?, self.next_value()?);
        self.mark(',')?;
        let selector = self.number("a selector of 16 bits")?;
        if !(self.on_same_line() && self.take_word("or")) {
            return Ok(Op::PermuteBytes { a, b, selector, alternative: None });
        }
        let other = self.number("a selector of 16 bits")?;
        self.keyword("if")?;
        Ok(Op::PermuteBytes { a, b, selector, alternative: Some((self.value()?, other)) })
    }

    fn instruction(&mut self) -> Parsed<Op> {
        Ok(Op::Instruction { name: self.quoted("the instruction's name")?, operands: self.values()? })
    }

    fn if_else(&mut self) -> Parsed<Op> {
        let condition = self.value()?;
        let then = self.region()?;
        self.keyword("else")?;
        Ok(Op::If { condition, then, otherwise: self.region()? })
    }

    fn for_loop(&mut self) -> Parsed<Op> {
        let from = self.value()?;
        self.keyword("to")?;
        let to = self.value()?;
        self.keyword("step")?;
        let step = self.value()?;
        let carried = if self.take_word("carry") { self.values()? } else { Vec::new() };
        Ok(Op::For { from, to, step, carried, body: self.region()? })
    }
}
