//! The syntax tree that the parser builds from PTX text.

/// A parsed PTX module: its target processor, variables, kernels and functions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PtxModule {
    /// Target processor that the text names, such as `sm_80`.
    pub(crate) target: String,
    pub(crate) variables: Vec<Variable>,
    pub(crate) kernels: Vec<Kernel>,
    /// Functions that have a body in the module; kernels may call them.
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
    /// Number of registers of a thread at the launch (`.maxnreg`); `None` if the kernel does not state it.
    pub(crate) launch_registers: Option<u32>,
    pub(crate) body: Vec<Statement>,
}

/// A function that kernels call: its name, the names of its results and then of its parameters, and its body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) formals: Vec<String>,
    pub(crate) body: Vec<Statement>,
}

/// The declaration of a variable: a parameter, or memory in one of the spaces.
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
    /// The address of the variable `name` plus `offset` bytes. It is a generic address if `generic`, otherwise an
    /// address in the variable's space.
    Address {
        name: String,
        offset: u64,
        generic: bool,
    },
}

/// A statement of a kernel's body, as parsed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    /// `{`, which opens a scope of names.
    Open,
    Close,
    /// Declaration of the register `name`, or of `count` registers `name0`, `name1`, ....
    Registers {
        line: u32,
        ty: String,
        name: String,
        count: Option<u32>,
    },
    Variable(Variable),
    /// Makes `name` an alias of the variable `of`; inlining adds it for each parameter and result of a function.
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
    /// Marks a register that LLVM leaves undefined on purpose, so that reading it is no fault.
    Undefined(String),
    Instruction(Instruction),
}

/// A parsed instruction: its guard, opcode with modifiers, and operands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instruction {
    pub(crate) line: u32,
    pub(crate) guard: Option<Guard>,
    pub(crate) opcode: String,
    pub(crate) operands: Vec<Operand>,
}

/// The guard predicate of an instruction: `@name`, or `@!name` if negated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Guard {
    pub(crate) name: String,
    pub(crate) negated: bool,
}

/// A parsed operand, before names are resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Name(String),
    /// A negated predicate, `!p`.
    Not(String),
    Integer(u64),
    /// The bits of a floating-point literal, and its width: 32 or 64 bits.
    Float(u64, u32),
    /// A register group, `{a, b}`.
    Group(Vec<Operand>),
    /// An address, `[base + offset]`; `more` has further elements, such as the coordinates of `[map, {x, y}]`.
    Address {
        base: Box<Operand>,
        offset: u64,
        more: Vec<Operand>,
    },
    /// A pair of destinations, `a|b`.
    Pair(Box<Operand>, Box<Operand>),
    /// The list of results or parameters of a call, `(a, b)`.
    List(Vec<Operand>),
    /// The address of a variable plus a constant, `name+4`, used as a value.
    Offset(String, u64),
}
