//! The syntax tree of PTX text.

/// A parsed PTX module: its target, global variables and kernels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PtxModule {
    /// Target processor that the text names, such as `sm_80`.
    pub(crate) target: String,
    pub(crate) variables: Vec<Variable>,
    pub(crate) kernels: Vec<Kernel>,
    /// Functions with a body.
    pub(crate) functions: Vec<Function>,
}

impl PtxModule {
    /// Returns the names of the module's kernels, in order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str())
    }

    /// Returns the target processor that the text names, such as `sm_80`.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }
}

/// A kernel entry: its name, parameters and body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Variable>,
    pub(crate) body: Vec<Statement>,
}

/// A function that kernels call: its name, the names of its results and then of its parameters, and its body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) formals: Vec<String>,
    pub(crate) body: Vec<Statement>,
}

/// The declaration of a variable: a parameter, or memory of some space.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variable {
    pub(crate) line: u32,
    /// Memory space of the variable: `global`, `const`, `shared`, `local` or `param`.
    pub(crate) space: String,
    pub(crate) alignment: u64,
    pub(crate) element_bytes: u64,
    pub(crate) name: String,
    /// Number of elements; `None` if the launch gives it (dynamic shared memory).
    pub(crate) elements: Option<u64>,
    pub(crate) initial: Vec<Initial>,
}

/// The initial value of one element of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Initial {
    Bits(u64),
    /// The address of the variable `name` plus an offset; a generic address, or an address in the variable's space.
    Address {
        name: String,
        offset: u64,
        generic: bool,
    },
}

/// A statement of a kernel's body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    /// `{`, which opens a scope of names.
    Open,
    Close,
    /// Declaration of one register, or of `count` registers whose names end with a number.
    Registers {
        line: u32,
        ty: String,
        name: String,
        count: Option<u32>,
    },
    Variable(Variable),
    /// A name that stands for the variable `of`: a parameter or result of an inlined function.
    Alias {
        line: u32,
        name: String,
        of: String,
    },
    Label {
        line: u32,
        name: String,
    },
    /// A branch table (`.branchtargets`) with its labels.
    Targets {
        line: u32,
        name: String,
        labels: Vec<String>,
    },
    /// The name of a register that the code generator leaves undefined on purpose.
    Undefined(String),
    Instruction(Instruction),
}

/// A parsed instruction with its guard and operands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instruction {
    pub(crate) line: u32,
    pub(crate) guard: Option<Guard>,
    pub(crate) opcode: String,
    pub(crate) operands: Vec<Operand>,
}

/// The guard predicate of an instruction: `@p` or `@!p`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Guard {
    pub(crate) name: String,
    pub(crate) negated: bool,
}

/// A parsed operand.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Name(String),
    /// A negated predicate, `!p`.
    Not(String),
    Integer(u64),
    /// The bits of a floating-point literal, and the number of these bits.
    Float(u64, u32),
    /// A register group, `{a, b}`.
    Group(Vec<Operand>),
    /// An address, `[base + offset]`; `more` has the coordinates of `[map, {x, y}]`.
    Address {
        base: Box<Operand>,
        offset: u64,
        more: Vec<Operand>,
    },
    /// Two results, `a|b`.
    Pair(Box<Operand>, Box<Operand>),
    /// The list of results or arguments of a call, `(a, b)`.
    List(Vec<Operand>),
    /// A variable's address plus a constant, `name+4`, as a value.
    Offset(String, u64),
}
