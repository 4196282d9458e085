//! The table of the kernel IR's operations, one row each.
//!
//! [`operations`] passes the rows to a macro, which generates the enum and its accessors (`operation`), the text form
//! (`text::print`, `text::operation`) and the builder methods (`build`). A row reads
//!
//! ```text
//! name Variant in_bytes("earlier_name") { field: type = "the field in a message" where RULE, ... } [TEXT] -> RESULTS at_best(LEVEL) needs(LEVEL) fn METHOD;
//! ```
//!
//! - Fields of type value are operands, fields of type region are regions, all others are attributes. `where` gives the
//!   rule (`rule`) for the operands' types; a rule may name other fields. A variant with one unnamed field has it in
//!   parentheses.
//! - `TEXT` is the text behind the name: literals and fields in the form of their types, or in another form as `(form
//!   field)`.
//! - `RESULTS` is `none`, `one(RULE)`, `two(RULE)`, `each(values)` (one result for each of these values) or `some` (any
//!   number).
//! - `at_best` is the best uniformity of the results when all operands are equal in all lanes; without it, the results
//!   are as uniform as the operands.
//! - `needs` is the uniformity that a collective requires of the control flow around it.
//! - `fn` generates a builder method that takes the fields and returns the result, if the rule determines its type.
//! - `in_bytes` is the earlier name of a renamed operation. Bytes keep it, since plugins of earlier versions read them;
//!   text is read with either name.
//!
//! A new operation is a row here, its semantics in the emulator and the code generators, and a check in `verify` if its
//! attributes have rules.

/// Passes all rows to the macro `$then`.
macro_rules! operations {
    ($then:ident) => {
        $then! {
            /// A constant: the given bits (of each element, for a vector).
            constant Constant {
                /// The bits of the constant (of each element, for a vector), zero-extended.
                bits: u64 = "64 bits",
            } [(bits_of bits)] -> one(one_of(ELEMENTS));
            /// A value with arbitrary bits, which may differ at each use (LLVM `undef`). No effect may depend on these
            /// bits: no address, condition, predicate or stored value that is read later.
            unspecified Unspecified {} [] -> one(one_of(ELEMENTS));
            /// A value that the hardware supplies.
            special Special (register: SpecialRegister) [register] -> one(is(I32));
            /// The value of a counter of the hardware at this point of the program. It is never removed, merged with
            /// another or moved.
            clock Clock {
                /// The counter to read.
                counter: ClockCounter,
            } [counter] -> one(is(I64)) at_best(Uniformity::Varying) fn clock;
            // A shared address is block-uniform at best, since each block has its own shared memory.
            /// The address of a static shared buffer of the kernel, by its index.
            shared_address SharedAddress {
                /// Index into [`crate::Kernel::shared`].
                buffer: u32 = "the number of a buffer",
            } [buffer] -> one(is(SHARED)) at_best(Uniformity::BlockUniform) fn shared_address;
            /// The address of the same buffer and offset in the shared memory of another block of the cluster (PTX
            /// `mapa`).
            cluster_address ClusterAddress {
                /// The address to convert: a pointer to shared memory.
                pointer: Value where is(SHARED),
                /// Index of the block in the cluster, an `i32` below the number of its blocks.
                block: Value where is(I32),
            } [pointer "," block] -> one(is(Type::Pointer(MemorySpace::Cluster))) fn cluster_address;
            /// An operation on one value.
            unary Unary {
                /// The kind of operation, such as negation.
                op: Unary,
                /// The operand, a scalar or vector.
                a: Value where one_of(op.operand()),
            } [op a] -> one(same_type_as(a)) fn unary;
            /// An operation on two values.
            binary Binary {
                /// The kind of operation, such as addition.
                op: Binary,
                /// The left operand, a scalar or vector.
                a: Value where one_of(op.operand()),
                /// The right operand, of the same type as the left.
                b: Value where same_type_as(a),
            } [op a "," b] -> one(same_type_as(a)) fn binary;
            /// Fused multiply-add, `a * b + c`, rounded once to nearest even. Not for `bf16`: hardware that computes
            /// with `bf16` rounds twice.
            fma Fma in_bytes("f_mul_add") {
                /// The first number that is multiplied.
                a: Value where one_of(FMA_FLOAT),
                /// The second number that is multiplied.
                b: Value where same_type_as(a),
                /// The number that is added to the product.
                c: Value where same_type_as(a),
            } [a "," b "," c] -> one(same_type_as(a)) fn fma;
            /// A comparison of integers or floating-point numbers.
            compare Compare {
                /// The kind of comparison, which also states how the operands' bits are read, such as signed.
                op: Compare,
                /// The left operand, a scalar or vector.
                a: Value where one_of(op.operand()),
                /// The right operand, of the same type as the left.
                b: Value where same_type_as(a),
            } [op a "," b] -> one(computed_from(a, Type::comparison_result)) fn compare;
            /// `a` if `condition` (`i1`) is true, otherwise `b`.
            select Select {
                /// The condition that selects, an `i1`.
                condition: Value where is(BOOL),
                /// The value if the condition is true.
                a: Value where one_of(NOT_PENDING),
                /// The value if the condition is false.
                b: Value where same_type_as(a),
            } [condition "," a "," b] -> one(same_type_as(a)) fn select;
            /// Asserts to the compiler that a value is equal in all lanes of the scope, so that collectives may stand
            /// under control that depends on it (compare AMD `readfirstlane`).
            assume_uniform AssumeUniform in_bytes("same") {
                /// The value that the kernel's author knows to be equal.
                value: Value where one_of(NOT_PENDING),
                /// The lanes that have equal values.
                scope: CollectiveScope,
            } [scope value] -> one(same_type_as(value)) needs(match scope {
                // A code generator may emit a shuffle from one lane.
                CollectiveScope::Warp => Uniformity::Uniform,
                CollectiveScope::Block | CollectiveScope::Cluster => Uniformity::Varying,
            }) fn assume_uniform;
            /// A conversion to the type of the result.
            cast Cast {
                /// The kind of conversion, such as truncation.
                op: Cast,
                /// The value to convert.
                a: Value where one_of(op.operand()),
            } [op a] -> one(any());
            /// A vector of scalars, the first in element 0.
            pack Pack {
                /// The elements of the vector, in order.
                elements: Vec<Value>,
            } [elements] -> one(any());
            /// One element of a vector.
            extract Extract {
                /// The vector whose element is extracted.
                vector: Value where one_of(VECTOR),
                /// Index of the element in the vector, from 0.
                index: u32 = "the index of an element",
            } [vector "," index] -> one(computed_from(vector, Type::element_scalar));
            /// Four bytes selected from two `i32`s (PTX `prmt`): bytes 0 to 3 are those of `a`, 4 to 7 those of `b`,
            /// lowest first. Nibble `i` of `selector` is the index of the byte that becomes byte `i` of the result.
            permute_bytes PermuteBytes {
                /// Supplies bytes 0 to 3.
                a: Value where is(I32),
                /// Supplies bytes 4 to 7.
                b: Value where is(I32),
                /// Four nibbles, each 0 to 7.
                selector: u16 = "a selector of 16 bits",
                /// A condition (`i1`), and the selector of the lanes with a true condition; `None` if all lanes use
                /// `selector`.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                alternative: Option<(Value, u16)> = "a selector of 16 bits" where is(BOOL),
            } [a "," b "," selector alternative] -> one(is(I32));
            /// A pointer moved by a number of bytes (`i32` or `i64`, signed).
            ptr_add PtrAdd in_bytes("advance") {
                /// The pointer to add bytes to.
                pointer: Value where one_of(POINTER),
                /// The number of bytes to add, signed.
                bytes: Value where one_of(OFFSET),
            } [pointer "," bytes] -> one(same_type_as(pointer)) fn ptr_add;
            // A load is uniform in a warp at best: another warp may read the address later, when it holds another
            // value.
            /// Reads a scalar or vector from memory. Lanes whose predicate is false access no memory and get `other`,
            /// or zero without it.
            load Load {
                /// The address; with `offset`, aligned to `alignment`.
                pointer: Value where one_of(POINTER),
                /// The predicate, an `i1`; `None` means true.
                predicate: Option<Value> where is(BOOL),
                /// A constant added to the address, in bytes.
                offset: i32 = "an offset in bytes",
                /// Alignment of pointer plus offset, in bytes.
                alignment: u32 = "an alignment",
                /// The result in lanes whose predicate is false, of the result's type; `None` means zero.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                other: Option<Value> = "a value" where one_of(IN_MEMORY),
            } [pointer offset "align" alignment predicate (other other)] -> one(one_of(IN_MEMORY)) at_best(Uniformity::Uniform);
            /// Writes a scalar or vector to memory. Lanes whose predicate is false access no memory.
            store Store {
                /// The address; with `offset`, aligned to `alignment`.
                pointer: Value where one_of(POINTER),
                /// The value to store.
                value: Value where one_of(IN_MEMORY),
                /// The predicate, an `i1`; `None` means true.
                predicate: Option<Value> where is(BOOL),
                /// A constant added to the address, in bytes.
                offset: i32 = "an offset in bytes",
                /// Alignment of pointer plus offset, in bytes.
                alignment: u32 = "an alignment",
            } [pointer offset "," value "align" alignment predicate] -> none;
            /// Atomic read-modify-write of a scalar, or of each element of a vector: combines memory with `value` and
            /// returns the old value. Lanes whose predicate is false access no memory and get zero.
            atomic_rmw AtomicRmw {
                /// The operation that combines memory with the value.
                op: Atomic,
                /// The address, in global or shared memory; aligned to its width.
                pointer: Value where one_of(ATOMIC_POINTER),
                /// An `i32` or `i64`; for [`Atomic::FAdd`] a floating-point scalar, or a vector that the target adds at
                /// once.
                value: Value where one_of(op.operand()),
                /// The predicate, an `i1`; `None` means true.
                predicate: Option<Value> where is(BOOL),
                /// The order of the lane's other accesses relative to this one.
                order: MemoryOrder,
                /// The lanes that observe the order.
                scope: MemoryScope,
            } [op order scope pointer "," value predicate] -> one(same_type_as(value)) at_best(Uniformity::Varying);
            /// Atomic compare-exchange of a scalar: writes `value` if memory holds `expected`, and returns the old
            /// value.
            atomic_compare_exchange AtomicCompareExchange {
                /// The address, in global or shared memory; aligned to its width.
                pointer: Value where one_of(ATOMIC_POINTER),
                /// The value that memory is compared with, an `i32` or `i64`.
                expected: Value where same_type_as(value),
                /// The value to write if memory holds `expected`.
                value: Value where one_of(OFFSET),
                /// The predicate, an `i1`; `None` means true.
                predicate: Option<Value> where is(BOOL),
                /// The order of the lane's other accesses relative to this one.
                order: MemoryOrder,
                /// The lanes that observe the order.
                scope: MemoryScope,
            } [order scope pointer "," expected "," value predicate] -> one(same_type_as(value)) at_best(Uniformity::Varying);
            /// A memory fence: the lane's earlier writes to global memory are visible to the lanes of the scope once
            /// they synchronize with this lane.
            fence Fence {
                /// The lanes that observe the order.
                scope: MemoryScope,
            } [scope] -> none fn fence;
            /// A math function. Targets have instructions for few of them; the others are expanded before a module is
            /// compiled.
            math Math {
                /// The function, such as `exp`.
                function: MathFunction,
                /// The arguments: `f32`, `f64` or vectors of these, all of one type.
                operands: Vec<Value> where one_of(MATH_FLOAT),
            } [function operands] -> one(from_first(operands));
            /// Stops the kernel if the condition is false.
            assert Assert {
                /// The condition that must be true, an `i1`.
                condition: Value where is(BOOL),
                /// The message if the condition is false.
                message: String = "the message",
                /// The predicate, an `i1`; lanes whose predicate is false check nothing. `None` means true.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                predicate: Option<Value> where is(BOOL),
            } [condition "," message predicate] -> none;
            /// Prints the values of every lane; integers as signed. With an index, they are elements of a tensor.
            print Print {
                /// Text that is printed before the values.
                prefix: String = "what comes before the values",
                /// Whether the bits are printed in hexadecimal.
                hex: bool,
                /// Scalars, vectors or pointers to global memory.
                values: Vec<Value> where one_of(PRINTED),
                /// The index of the elements in their tensor, one `i32` for each axis. `None` if they belong to no
                /// tensor.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                index: Option<Vec<Value>> where is(I32),
            } [prefix (hex hex) values (index index)] -> none;
            /// Inline assembly of a vendor; only the code generator of this vendor accepts it.
            assembly Assembly {
                /// The text, with `$0`, `$1`, ... for the results, then the operands.
                text: String = "the assembly text",
                /// Constraints of the results, then the operands, in the syntax of LLVM's inline assembly.
                constraints: String = "the constraints",
                /// The operands of the assembly text.
                operands: Vec<Value>,
            } [text constraints operands] -> some at_best(Uniformity::Varying);
            /// Programmatic dependent launch (PTX `griddepcontrol`): waits until the preceding kernel of the stream has
            /// written all its results, or lets the next kernel start. A no-op on targets without it.
            grid_dependency GridDependency {
                /// Whether the operation waits; otherwise it lets the next kernel start.
                wait: bool = "what to do",
            } [(wait_or_launch wait)] -> none fn grid_dependency;
            /// Shuffle (CUDA `__shfl_sync`): every lane reads the value of another lane of its warp; a scalar of 32
            /// bits.
            shuffle Shuffle in_bytes("exchange") {
                /// How a lane names the lane from which it reads.
                kind: ShuffleMode,
                /// The value that this lane provides.
                value: Value where one_of(WORD),
                /// The source lane of this lane.
                lane: Value where is(I32),
                /// The lanes that issue the shuffle.
                issuers: Issuers,
            } [kind issuers value "," lane] -> one(same_type_as(value)) needs(Uniformity::Uniform);
            /// Shuffle by a constant XOR (CUDA `__shfl_xor_sync`): every lane reads the value of the lane whose index
            /// differs in the bits of `mask`; a scalar of 32 bits.
            shuffle_xor ShuffleXor in_bytes("exchange_xor") {
                /// The value that this lane provides.
                value: Value where one_of(WORD),
                /// The differing bits of the lane indices; from 1 to one less than the number of lanes.
                mask: u32 = "the bits in which lane indices differ",
                /// The lanes that issue the shuffle.
                issuers: Issuers,
            } [mask issuers value] -> one(same_type_as(value)) needs(Uniformity::Uniform);
            /// Exchanges one of two values between lanes that differ in one bit of their index: a lane with the bit set
            /// swaps its `a` with the `b` of the other lane. Two results: `a` and `b` after the swap. Scalars of 32
            /// bits.
            swap Swap {
                /// The value that lanes with the bit set give away.
                a: Value where one_of(WORD),
                /// The value that lanes with the bit clear give away.
                b: Value where same_type_as(a),
                /// The bit of the lane index, as a power of two.
                lane: u32 = "a power of two of the lane index",
                /// The lanes that issue the swap.
                issuers: Issuers,
            } [lane issuers a "," b] -> two(same_type_as(a)) at_best(Uniformity::Varying) needs(Uniformity::Uniform);
            /// Barrier: no lane of the scope passes before all have arrived. Writes to shared memory before it are
            /// visible to all lanes after it.
            barrier Barrier {
                /// The lanes that wait for each other.
                scope: CollectiveScope,
                /// The lanes that issue the barrier.
                issuers: Issuers,
            } [scope issuers] -> none needs(scope.uniformity());
            /// Named barrier (PTX `barrier.sync a, b`): no warp passes before `warps` warps have arrived. Their earlier
            /// writes to shared memory are visible to all of them after it. Any warps of the block may arrive.
            named_barrier NamedBarrier in_bytes("group_barrier") {
                /// Number of the barrier: warps that name the same number wait for each other.
                number: u32 = "the number of a barrier",
                /// The number of warps that arrive.
                warps: u32 = "a number of warps",
            } [number "," warps] -> none needs(Uniformity::Uniform) fn named_barrier;
            /// Named barrier with a number that the warp computes, at which a warp waits or only arrives (PTX
            /// `barrier.sync a, b` and `barrier.arrive a, b`). It completes when `warps` warps have arrived, by either
            /// action, and is then reset. Writes to shared memory of the warps that arrived are visible to those that
            /// waited.
            indexed_barrier IndexedBarrier {
                /// Whether the warp waits, or only arrives.
                action: BarrierAction,
                /// Number of the barrier, an `i32`, the same in all lanes.
                number: Value where is(I32),
                /// The number of warps that arrive.
                warps: u32 = "a number of warps",
            } [action number "," warps] -> none needs(Uniformity::Uniform) fn indexed_barrier;
            /// Changes the number of 32-bit registers of each lane (PTX `setmaxnreg`). All warps of a warp group of the
            /// target execute it, with the same registers. Registers that are released go to a pool of the block; the
            /// warps wait until the pool has those that they acquire.
            set_max_registers SetMaxRegisters {
                /// Whether the lanes release or acquire registers.
                change: RegisterChange,
                /// Number of registers of a lane after the change.
                registers: u32 = "a number of registers",
            } [change registers] -> none needs(Uniformity::Uniform) fn set_max_registers;
            /// Turns a scalar or vector into a ready async token of the queue: a pending value whose operation is
            /// already complete. It is the initial value of a pending accumulator that a loop carries.
            ready_token ReadyToken in_bytes("pend") {
                /// The queue of the pending result.
                queue: Queue,
                /// The scalar or vector that the pending result stands for.
                value: Value where one_of(ELEMENTS),
            } [queue value] -> one(computed_from(value, Type::to_pending)) needs(Uniformity::Uniform) fn ready_token;
            /// Commits all operations that this warp has issued on the queue since its last commit there as one group
            /// (PTX `commit_group`).
            commit Commit {
                /// The queue whose operations are committed.
                queue: Queue,
            } [queue] -> none needs(Uniformity::Uniform) fn commit;
            /// Waits until at most `outstanding` of the warp's latest groups of the queue are unfinished (PTX
            /// `wait_group`). Writes of the finished groups are visible to the lanes that issued them. The results are
            /// `values` as readable values; the groups that produce them must be among the finished ones.
            wait Wait {
                /// The queue whose groups are waited for.
                queue: Queue,
                /// The number of groups that may still be in flight.
                outstanding: u32 = "how many groups may be unfinished",
                /// Pending values of finished groups.
                values: Vec<Value> where one_of(PENDING),
            } [queue outstanding values] -> each(values) needs(Uniformity::Uniform);
            /// Initializes an mbarrier in eight bytes of shared memory, aligned to eight. A phase completes after
            /// `arrivals` arrivals and all bytes that these expect. One lane of the warp executes it.
            mbarrier_init MbarrierInit {
                /// A pointer to shared memory, the same in all lanes.
                pointer: Value where is(SHARED),
                /// The number of arrivals that complete a phase; at least one.
                arrivals: u32 = "a number of arrivals",
            } [pointer "," arrivals] -> none needs(Uniformity::Uniform);
            /// Arrives once at an mbarrier, after all lanes of the warp, and adds to the bytes of asynchronous copies
            /// that its phase expects. Writes of the warp to shared memory before it are visible to the lanes that
            /// wait.
            mbarrier_arrive MbarrierArrive {
                /// A pointer to an mbarrier, the same in all lanes.
                pointer: Value where is(SHARED),
                /// The number of bytes to expect.
                bytes: u32 = "a number of bytes",
            } [pointer "," bytes] -> none needs(Uniformity::Uniform) fn mbarrier_arrive;
            /// Waits until the mbarrier's phase of this parity has completed. Writes by its copies, and writes before
            /// its arrivals, are visible afterwards.
            mbarrier_wait MbarrierWait {
                /// A pointer to an mbarrier, the same in all lanes.
                pointer: Value where is(SHARED),
                /// An `i32`, the same in all lanes: 0 for the first, third, ... phase, 1 for the others.
                phase: Value where is(I32),
            } [pointer "," phase] -> none needs(Uniformity::Uniform) fn mbarrier_wait;
            /// Ends an mbarrier: its bytes may hold other data, or be initialized again. All arrivals and waits must be
            /// ordered before it. One lane of the warp executes it, after all lanes of the warp.
            mbarrier_invalidate MbarrierInvalidate {
                /// A pointer to an mbarrier, the same in all lanes.
                pointer: Value where is(SHARED),
            } [pointer] -> none needs(Uniformity::Uniform) fn mbarrier_invalidate;
            /// Makes the completion of all operations that this warp has issued on the queue since its last commit
            /// there arrive once at the mbarrier.
            mbarrier_commit MbarrierCommit {
                /// The queue whose operations arrive at the mbarrier when they complete.
                queue: Queue,
                /// A pointer to an mbarrier, the same in all lanes.
                pointer: Value where is(SHARED),
            } [queue pointer] -> none needs(Uniformity::Uniform) fn mbarrier_commit;
            /// Allocates columns of the block's tensor memory (PTX `tcgen05.alloc`) and writes the address of the
            /// first, 32 bits, to shared memory.
            tensor_allocate TensorAllocate {
                /// A pointer to four bytes of shared memory, the same in all lanes.
                pointer: Value where is(SHARED),
                /// The number of columns; a power of two.
                columns: u32 = "a number of columns",
            } [pointer "," columns] -> none needs(Uniformity::Uniform) fn tensor_allocate;
            /// Frees columns of tensor memory that one operation allocated.
            tensor_free TensorFree {
                /// The address of the first column, an `i32`, the same in all lanes.
                address: Value where is(I32),
                /// The number of columns, as they were allocated.
                columns: u32 = "a number of columns",
            } [address "," columns] -> none needs(Uniformity::Uniform) fn tensor_free;
            /// Proxy fence (PTX `fence.proxy.async`): writes of this warp to shared memory by plain stores are visible
            /// to asynchronous operations ordered after it.
            proxy_fence ProxyFence {} [] -> none needs(Uniformity::Uniform) fn proxy_fence;
            /// A vendor instruction, named by its row of the instruction table; the row defines its semantics.
            instruction Instruction {
                /// Name of the row in the target's instruction table.
                name: String = "the instruction's name",
                /// The operands of the instruction, in the order of its row.
                operands: Vec<Value>,
            } [name operands] -> some at_best(Uniformity::Varying) needs(Uniformity::Uniform);
            /// Runs one of two regions; the results of the operation are the values that the region yields.
            if If {
                /// The condition, an `i1`.
                condition: Value where is(BOOL),
                /// Runs in lanes whose condition is true.
                then: Region,
                /// Runs in the other lanes.
                otherwise: Region,
            } [condition then (otherwise otherwise)] -> some;
            /// Runs `body` for `index` in `from, from + step, ...` below `to` (unsigned `i32`). The body's arguments
            /// are the index and the carried values; it yields the carried values. `index + step` must stay below 2^32.
            for For {
                /// The index of the first iteration.
                from: Value where is(I32),
                /// Exclusive upper bound of the index.
                to: Value where is(I32),
                /// Increment of the index from one iteration to the next, above zero.
                step: Value where is(I32),
                /// The carried values of the first iteration, in the order of the body's arguments.
                carried: Vec<Value>,
                /// The region that each iteration runs.
                body: Region,
            } [from "to" to "step" step (carry carried) body] -> some;
            /// Runs `body` at least once, and repeats it while it yields true. The body's arguments are the carried
            /// values; it yields an `i1`, whether to repeat, and the new carried values. The results are the last
            /// carried values.
            while While {
                /// The carried values of the first iteration, in the order of the body's arguments.
                carried: Vec<Value>,
                /// The region that each iteration runs.
                body: Region,
            } [(carry carried) body] -> some;
            /// Ends a region with the given values; the last operation of every region but a kernel's.
            yield Yield {
                /// The values that the region yields.
                values: Vec<Value>,
            } [values] -> none;
        }
    };
}

pub(crate) use operations;
