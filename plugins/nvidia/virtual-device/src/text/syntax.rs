//! What a text of PTX is made of.

/// A module of PTX as it stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PtxModule {
    /// The processor that it was written for: `sm_80`.
    pub(crate) target: String,
    pub(crate) variables: Vec<Variable>,
    pub(crate) kernels: Vec<Kernel>,
}

impl PtxModule {
    /// Names of its kernels, in their order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// The processor that it was written for: `sm_80`.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }
}

/// An entry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Variable>,
    pub(crate) body: Vec<Statement>,
}

/// A variable: a parameter, or memory of some space.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variable {
    pub(crate) line: u32,
    /// `global`, `const`, `shared`, `local` or `param`.
    pub(crate) space: String,
    pub(crate) alignment: u64,
    pub(crate) element_bytes: u64,
    pub(crate) name: String,
    /// Elements; none where the launch says how many.
    pub(crate) elements: Option<u64>,
    pub(crate) initial: Vec<Initial>,
}

/// What an element of a variable holds at first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Initial {
    Bits(u64),
    /// The address of a variable, so many bytes behind it; a generic one or one of its space.
    Address {
        name: String,
        offset: u64,
        generic: bool,
    },
}

/// A statement of a body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    /// `{`: names from here on are the block's own.
    Open,
    Close,
    /// One register, or as many as `count` says with numbers behind the name.
    Registers {
        line: u32,
        ty: String,
        name: String,
        count: Option<u32>,
    },
    Variable(Variable),
    Label {
        line: u32,
        name: String,
    },
    /// The labels of a table of branches.
    Targets {
        line: u32,
        name: String,
        labels: Vec<String>,
    },
    /// A register that may hold anything.
    Undefined(String),
    Instruction(Instruction),
}

/// An instruction as it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instruction {
    pub(crate) line: u32,
    pub(crate) guard: Option<Guard>,
    pub(crate) opcode: String,
    pub(crate) operands: Vec<Operand>,
}

/// `@p` or `@!p`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Guard {
    pub(crate) name: String,
    pub(crate) negated: bool,
}

/// An operand as it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Name(String),
    /// `!p`.
    Not(String),
    Integer(u64),
    /// Bits of a floating-point number, and how many.
    Float(u64, u32),
    /// `{a, b}`.
    Group(Vec<Operand>),
    /// `[base + offset]`, or with coordinates.
    Address {
        base: Box<Operand>,
        offset: u64,
        more: Vec<Operand>,
    },
    /// `a|b`: two results.
    Pair(Box<Operand>, Box<Operand>),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `name+4`, where no memory is accessed.
    Offset(String, u64),
}
