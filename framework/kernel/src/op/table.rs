//! The table of the kernel IR's operations, a row each.
//!
//! [`operations`] hands the rows to a macro that makes something of them: the enum and what is known of an operation
//! (`operation`), its text (`text::print`, `text::operation`), its builder method (`build`). A row reads
//!
//! ```text
//! name Variant { field: type = "the field in a message" where RULE, ... } [TEXT] -> RESULTS at_best(LEVEL) needs(LEVEL) fn METHOD;
//! ```
//!
//! - Fields of values are operands, those of regions its regions, others attributes. `where` says what types the operands
//!   may have (`rule`); rules may name other fields. A variant with one field without a name has it in parentheses.
//! - `TEXT` is what follows the name: literals, fields in the form of their types, or in another as `(form field)`.
//! - `RESULTS` are `none`, `one(RULE)`, `two(RULE)`, `each(values)`, one for each of those, or `some`, any number.
//! - `at_best` says how uniform results are even if all operands are equal in all lanes; left out, they are as uniform as
//!   the operands.
//! - `needs` says how uniform the control must be that a collective stands under.
//! - `fn` makes a method of the builder that takes the fields and gives the result, if the rule says its type.
//!
//! A new operation is a row here, its semantics in the emulator and the code generators, and a check in `verify` if
//! its attributes have rules.

/// Hands all rows to the macro of this name.
macro_rules! operations {
    ($then:ident) => {
        $then! {
            /// A constant: the given bits (of each element, for a vector).
            constant Constant {
                /// The bits, zero-extended.
                bits: u64 = "64 bits",
            } [(bits_of bits)] -> one(one_of(ELEMENTS));
            /// A value that the hardware supplies.
            special Special (register: SpecialRegister) [register] -> one(is(INDEX));
            // Each block has its own shared memory.
            /// The address of a static shared buffer of the kernel, by its index.
            shared_address SharedAddress {
                /// Index into [`crate::Kernel::shared`].
                buffer: u32 = "the number of a buffer",
            } [buffer] -> one(is(SHARED)) at_best(Uniformity::BlockUniform) fn shared_address;
            /// Where a shared address of the own block is in a block of the cluster: the same buffer and place.
            cluster_address ClusterAddress {
                /// A pointer to shared memory.
                pointer: Value where is(SHARED),
                /// Index of the block in the cluster, an `i32` below the number of its blocks.
                block: Value where is(INDEX),
            } [pointer "," block] -> one(is(Type::Pointer(MemorySpace::Cluster))) fn cluster_address;
            /// An operation on one value.
            unary Unary {
                /// Which.
                op: Unary,
                /// The operand.
                a: Value where one_of(op.operand()),
            } [op a] -> one(like(a)) fn unary;
            /// An operation on two values.
            binary Binary {
                /// Which.
                op: Binary,
                /// Left operand.
                a: Value where one_of(op.operand()),
                /// Right operand.
                b: Value where like(a),
            } [op a "," b] -> one(like(a)) fn binary;
            /// `a * b + c` of floating-point numbers but `bf16`, rounded once, to nearest even. (Hardware that computes with
            /// `bf16` rounds such sums twice.)
            f_mul_add FMulAdd {
                /// A factor.
                a: Value where one_of(FUSED),
                /// The other.
                b: Value where like(a),
                /// What the product is added to.
                c: Value where like(a),
            } [a "," b "," c] -> one(like(a)) fn f_mul_add;
            /// A comparison of integers or floating-point numbers.
            compare Compare {
                /// Which.
                op: Compare,
                /// Left operand.
                a: Value where one_of(op.operand()),
                /// Right operand.
                b: Value where like(a),
            } [op a "," b] -> one(from(a, Type::flags)) fn compare;
            /// `a` where `condition` (`i1`) is true, `b` otherwise.
            select Select {
                /// An `i1`.
                condition: Value where is(BOOL),
                /// The value where it is true.
                a: Value where one_of(AT_HAND),
                /// The value where it is false.
                b: Value where like(a),
            } [condition "," a "," b] -> one(like(a)) fn select;
            /// A value of which whoever made the kernel knows that it is the same in all lanes of the scope, so that control of
            /// collectives may depend on it.
            same Same {
                /// The value.
                value: Value where one_of(AT_HAND),
                /// In which lanes.
                scope: Scope,
            } [scope value] -> one(like(value)) fn same;
            /// A change of type to the type of the result.
            cast Cast {
                /// How.
                op: Cast,
                /// The operand.
                a: Value where one_of(op.operand()),
            } [op a] -> one(any());
            /// A vector of scalars, the first in element 0.
            pack Pack {
                /// The elements.
                elements: Vec<Value>,
            } [elements] -> one(any());
            /// One element of a vector.
            extract Extract {
                /// The vector.
                vector: Value where one_of(VECTOR),
                /// Which element.
                index: u32 = "the index of an element",
            } [vector "," index] -> one(from(vector, Type::scalar));
            /// Four bytes chosen from the eight of two `i32`s: bytes 0 to 3 are `a`'s, 4 to 7 `b`'s, lowest
            /// first; nibble `i` of `selector` says which byte becomes byte `i` of the result.
            permute_bytes PermuteBytes {
                /// Supplies bytes 0 to 3.
                a: Value where is(INDEX),
                /// Supplies bytes 4 to 7.
                b: Value where is(INDEX),
                /// Four nibbles, each 0 to 7.
                selector: u16 = "a selector of 16 bits",
                /// Another selector, for the lanes where the `i1` is true.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                alternative: Option<(Value, u16)> = "a selector of 16 bits" where is(BOOL),
            } [a "," b "," selector alternative] -> one(is(INDEX));
            /// A pointer moved by a number of bytes (`i32` or `i64`, signed).
            advance Advance {
                /// The pointer.
                pointer: Value where one_of(POINTER),
                /// How many bytes.
                bytes: Value where one_of(OFFSET),
            } [pointer "," bytes] -> one(like(pointer)) fn advance;
            // One access of a warp reads one address once; another warp may read it later, when something else is there.
            /// Reads a scalar or vector. Lanes whose predicate is false touch no memory and get zero.
            load Load {
                /// Where; aligned to `alignment`.
                pointer: Value where one_of(POINTER),
                /// An `i1`; absent means true.
                predicate: Option<Value> where is(BOOL),
                /// A constant added to the address, in bytes.
                offset: i32 = "an offset in bytes",
                /// Alignment of pointer plus offset, in bytes.
                alignment: u32 = "an alignment",
            } [pointer offset "align" alignment predicate] -> one(one_of(IN_MEMORY)) at_best(Uniformity::Uniform);
            /// Writes a scalar or vector. Lanes whose predicate is false touch no memory.
            store Store {
                /// Where; aligned to `alignment`.
                pointer: Value where one_of(POINTER),
                /// What.
                value: Value where one_of(IN_MEMORY),
                /// An `i1`; absent means true.
                predicate: Option<Value> where is(BOOL),
                /// A constant added to the address, in bytes.
                offset: i32 = "an offset in bytes",
                /// Alignment of pointer plus offset, in bytes.
                alignment: u32 = "an alignment",
            } [pointer offset "," value "align" alignment predicate] -> none;
            /// Reads a scalar, writes what the operation makes of it and `value`, and gives what was read, in one step that no
            /// other lane's access of the place comes between. Lanes whose predicate is false touch no memory and get zero.
            atomic_rmw AtomicRmw {
                /// Which.
                op: Atomic,
                /// Where, in global or shared memory; aligned to its width.
                pointer: Value where one_of(ATOMIC_POINTER),
                /// An `i32` or `i64`; for [`Atomic::FAdd`] a floating-point scalar.
                value: Value where one_of(op.operand()),
                /// An `i1`; absent means true.
                predicate: Option<Value> where is(BOOL),
                /// How it orders other accesses of the lane.
                order: MemoryOrder,
                /// Among whom.
                scope: MemoryScope,
            } [op order scope pointer "," value predicate] -> one(like(value)) at_best(Uniformity::Varying);
            /// Reads a scalar, writes `value` if it is `expected`, and gives what was read, in one step likewise.
            atomic_compare_exchange AtomicCompareExchange {
                /// Where, in global or shared memory; aligned to its width.
                pointer: Value where one_of(ATOMIC_POINTER),
                /// An `i32` or `i64`.
                expected: Value where like(value),
                /// What is written where that was there.
                value: Value where one_of(OFFSET),
                /// An `i1`; absent means true.
                predicate: Option<Value> where is(BOOL),
                /// How it orders other accesses of the lane.
                order: MemoryOrder,
                /// Among whom.
                scope: MemoryScope,
            } [order scope pointer "," expected "," value predicate] -> one(like(value)) at_best(Uniformity::Varying);
            /// What a lane wrote to global memory before is seen by the lanes of the scope after whatever tells them that it
            /// is there.
            fence Fence {
                /// Among whom.
                scope: MemoryScope,
            } [scope] -> none fn fence;
            /// A function of floating-point numbers. Targets have few of them; others are expanded before a module is compiled.
            math Math {
                /// Which.
                function: MathFunction,
                /// Its numbers: `f32` or `f64`, or vectors of them, of one type.
                operands: Vec<Value> where one_of(COMPUTED),
            } [function operands] -> one(from_first(operands));
            /// Ends the run where the condition is false.
            assert Assert {
                /// An `i1`.
                condition: Value where is(BOOL),
                /// What to say.
                message: String = "the message",
                /// An `i1`, where it is false nothing is checked; absent means true.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                predicate: Option<Value> where is(BOOL),
            } [condition "," message predicate] -> none;
            /// Every lane prints its values; integers with sign.
            print Print {
                /// What comes before them.
                prefix: String = "what comes before the values",
                /// Whether the bits are printed in hexadecimal digits.
                hex: bool,
                /// Scalars, vectors or pointers to global memory.
                values: Vec<Value> where one_of(PRINTED),
            } [prefix (hex hex) values] -> none;
            /// A vendor's assembly text as it is; its code generator alone takes it.
            assembly Assembly {
                /// The text, with `$0`, `$1`, ... for results, then operands.
                text: String = "the assembly text",
                /// Constraints of results, then operands, as LLVM's inline assembly has them.
                constraints: String = "the constraints",
                /// The operands.
                operands: Vec<Value>,
            } [text constraints operands] -> some at_best(Uniformity::Varying);
            /// Where kernels of a stream overlap: waits until what came before has written all, or says that what comes after
            /// may begin. Elsewhere nothing.
            grid_dependency GridDependency {
                /// Whether it waits.
                wait: bool = "what to do",
            } [(wait_or_launch wait)] -> none fn grid_dependency;
            /// Gives every lane the value that another lane of its warp holds; a scalar of 32 bits.
            exchange Exchange {
                /// How lanes are named.
                kind: Exchange,
                /// What this lane offers.
                value: Value where one_of(WORD),
                /// Which lane this one reads from.
                lane: Value where is(INDEX),
                /// Who issues it.
                issuers: Issuers,
            } [kind issuers value "," lane] -> one(like(value)) needs(Uniformity::Uniform);
            /// Gives every lane the value that the lane whose index differs in the bits of a constant holds; a
            /// scalar of 32 bits.
            exchange_xor ExchangeXor {
                /// What this lane offers.
                value: Value where one_of(WORD),
                /// The bits in which the indices differ; not zero, below the number of lanes.
                mask: u32 = "the bits in which lane indices differ",
                /// Who issues it.
                issuers: Issuers,
            } [mask issuers value] -> one(like(value)) needs(Uniformity::Uniform);
            /// Lanes that differ in one bit of their index trade: where the bit is set a lane gives what it
            /// holds of `a` and gets the other's `b`, where it is not it gives of `b` and gets the other's
            /// `a`. Two results: `a` and `b` after the trade. Scalars of 32 bits.
            swap Swap {
                /// What lanes with the bit set trade away.
                a: Value where one_of(WORD),
                /// What the other lanes trade away.
                b: Value where like(a),
                /// The bit of the lane index, as its power of two.
                lane: u32 = "a power of two of the lane index",
                /// Who issues it.
                issuers: Issuers,
            } [lane issuers a "," b] -> two(like(a)) at_best(Uniformity::Varying) needs(Uniformity::Uniform);
            /// No lane of the scope passes before all have arrived, and what they wrote to shared memory
            /// before it is seen by all after it.
            barrier Barrier {
                /// Which lanes wait for each other.
                scope: Scope,
                /// Who issues it.
                issuers: Issuers,
            } [scope issuers] -> none needs(scope.uniformity());
            /// No lane of so many warps passes before that many have come to the barrier of this number, and what they wrote to shared
            /// memory before it is seen by all of them after it. Which warps they are, who comes to it says.
            group_barrier GroupBarrier {
                /// Which of the block's barriers.
                number: u32 = "the number of a barrier",
                /// How many warps meet.
                warps: u32 = "a number of warps",
            } [number "," warps] -> none needs(Uniformity::Uniform) fn group_barrier;
            /// A value as one that an operation of the queue gives and that is there already: what an accumulator that a loop carries
            /// begins with.
            pend Pend {
                /// Which queue.
                queue: Queue,
                /// A scalar or vector.
                value: Value where one_of(ELEMENTS),
            } [queue value] -> one(from(value, Type::pending)) needs(Uniformity::Uniform) fn pend;
            /// Closes the group of all that this warp has issued on the queue since its last commit there.
            commit Commit {
                /// Which queue.
                queue: Queue,
            } [queue] -> none needs(Uniformity::Uniform) fn commit;
            /// Passes when at most `outstanding` of the warp's latest groups of the queue are unfinished. What the
            /// other groups have written is there for the lanes that issued it. One result for every value: what it is
            /// when it is no longer pending; its group must be finished.
            wait Wait {
                /// Which queue.
                queue: Queue,
                /// How many groups may go on.
                outstanding: u32 = "how many groups may be unfinished",
                /// Pending values of finished groups.
                values: Vec<Value> where one_of(PENDING),
            } [queue outstanding values] -> each(values) needs(Uniformity::Uniform);
            /// Makes eight bytes of shared memory, aligned to eight, an mbarrier: each of its phases completes when
            /// so many arrivals and all bytes that they expect have come. One lane of the warp does it.
            mbarrier_init MbarrierInit {
                /// A pointer to shared memory, the same in all lanes.
                pointer: Value where is(SHARED),
                /// Arrivals of a phase; at least one.
                arrivals: u32 = "a number of arrivals",
            } [pointer "," arrivals] -> none needs(Uniformity::Uniform);
            /// The warp arrives once at an mbarrier, after all its lanes, and its phase expects so many more bytes of
            /// asynchronous copies. What the warp wrote to shared memory before is seen by those who wait.
            mbarrier_arrive MbarrierArrive {
                /// A pointer to an mbarrier, the same in all lanes.
                pointer: Value where is(SHARED),
                /// How many bytes.
                bytes: u32 = "a number of bytes",
            } [pointer "," bytes] -> none needs(Uniformity::Uniform) fn mbarrier_arrive;
            /// Passes when the mbarrier's phase of this parity has completed; what its copies wrote, and what
            /// those who arrived wrote before, is there then.
            mbarrier_wait MbarrierWait {
                /// A pointer to an mbarrier, the same in all lanes.
                pointer: Value where is(SHARED),
                /// An `i32`, the same in all lanes: 0 for the first phase and every second one after it, 1 for the others.
                phase: Value where is(INDEX),
            } [pointer "," phase] -> none needs(Uniformity::Uniform) fn mbarrier_wait;
            /// What this warp has issued on the queue since its last commit there arrives at the mbarrier, once, when all
            /// of it has finished.
            mbarrier_commit MbarrierCommit {
                /// Which queue.
                queue: Queue,
                /// A pointer to an mbarrier, the same in all lanes.
                pointer: Value where is(SHARED),
            } [queue pointer] -> none needs(Uniformity::Uniform) fn mbarrier_commit;
            /// Allots columns of the block's tensor memory and writes the address of the first, 32 bits, to shared memory.
            tensor_allocate TensorAllocate {
                /// A pointer to four bytes of shared memory, the same in all lanes.
                pointer: Value where is(SHARED),
                /// How many; a power of two.
                columns: u32 = "a number of columns",
            } [pointer "," columns] -> none needs(Uniformity::Uniform) fn tensor_allocate;
            /// Gives back what was allotted at once.
            tensor_free TensorFree {
                /// The address of the first column, an `i32`, the same in all lanes.
                address: Value where is(INDEX),
                /// How many there are.
                columns: u32 = "a number of columns",
            } [address "," columns] -> none needs(Uniformity::Uniform) fn tensor_free;
            /// What this warp wrote to shared memory by plain stores is seen by asynchronous operations that are
            /// ordered after it.
            proxy_fence ProxyFence {} [] -> none needs(Uniformity::Uniform) fn proxy_fence;
            /// A vendor's instruction by the name of its row; its meaning is the row's.
            instruction Instruction {
                /// Name of the row in the target's instruction table.
                name: String = "the instruction's name",
                /// Its operands in the order of the row.
                operands: Vec<Value>,
            } [name operands] -> some at_best(Uniformity::Varying) needs(Uniformity::Uniform);
            /// Runs one of two regions; results are what the region that ran yields.
            if If {
                /// An `i1`.
                condition: Value where is(BOOL),
                /// Runs in the lanes where it is true.
                then: Region,
                /// Runs in the others.
                otherwise: Region,
            } [condition then (otherwise otherwise)] -> some;
            /// Runs `body` for `index` in `from, from + step, ...` below `to` (unsigned `i32`). The body's
            /// arguments are the index and the carried values; it yields the carried values. No index plus
            /// `step` may reach 2^32.
            for For {
                /// First index.
                from: Value where is(INDEX),
                /// Bound, not reached.
                to: Value where is(INDEX),
                /// Increment, above zero.
                step: Value where is(INDEX),
                /// Initial carried values.
                carried: Vec<Value>,
                /// What runs.
                body: Region,
            } [from "to" to "step" step (carry carried) body] -> some;
            /// Runs `body` at least once, and again while it says so. The body's arguments are the carried values; it yields
            /// an `i1`, whether to run again, and the new carried values. Results are the last carried values.
            while While {
                /// Initial carried values.
                carried: Vec<Value>,
                /// What runs.
                body: Region,
            } [(carry carried) body] -> some;
            /// Ends a region with the given values; the last operation of every region but a kernel's.
            yield Yield {
                /// What the region gives.
                values: Vec<Value>,
            } [values] -> none;
        }
    };
}

pub(crate) use operations;
