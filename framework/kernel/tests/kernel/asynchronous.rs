//! Rules for pending values and for operations that order asynchronous ones, and their signatures from rows.
#![allow(clippy::unwrap_used)]

use tilewright_kernel::{
    Element, InstructionSignature, MemorySpace, Queue, Type, Value, ValueTypeRequirement, Violation, text, verify,
    verify_vendor_instructions,
};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

fn violation(body: &str) -> Violation {
    let text = format!(
        "kernel tested(%0 n: i32) lanes 8 warps 2 {{
           shared 0: 8 bytes align 8
           %1: ptr.shared = shared_address 0
           %2: i32 = special lane
           %3: i1 = compare lt_u %2, %0
           %4: f32 = constant 0
           %5: pending.4xf32 = instruction \"a\" %4
           {body}
         }}"
    );
    let module = text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&module).expect_err(body).violation
}

const PENDING: Type = Type::Pending(Element::F32, 4);

#[test]
fn only_waits_instructions_and_carriers_take_what_is_pending() {
    let sound = "kernel sound(%0 n: i32) lanes 8 warps 1 {
      shared 0: 8 bytes align 8
      %1: ptr.shared = shared_address 0
      mbarrier_init %1, 2
      proxy_fence
      %2: pending.4xf32 = instruction \"a\" %0
      %3: pending.4xf32 = for %0 to %0 step %0 carry %2 (%4: i32, %5: pending.4xf32) {
        %6: pending.4xf32 = instruction \"a\" %5
        commit products
        %7: i1 = compare lt_u %4, %0
        %8: pending.4xf32 = if %7 { yield %6 } else { yield %6 }
        yield %8
      }
      %9: 4xf32 = wait products 0 %3
      mbarrier_arrive %1, 64
      mbarrier_wait %1, %0
      mbarrier_invalidate %1
      wait copies 2
    }";
    let module = text::parse_module(sound).unwrap();
    verify(&module).unwrap();
    assert_eq!(text::parse_module(&module.to_string()).unwrap(), module);

    let refused =
        |found: Type, expected: &str| Violation::Operand { value: Value(5), found, expected: expected.to_owned() };
    for (body, expected) in [
        ("%9: f32 = extract %5, 0", "a vector"),
        ("%9: 4xf32 = unary f_neg %5", "a floating-point type"),
        ("%9: 4xf32 = binary f_add %5, %5", "a floating-point type"),
        ("%9: 4xi32 = cast bits %5", "a scalar or vector, not of i1, ptr.shared or ptr.global"),
        ("%9: pending.4xf32 = select %3, %5, %5", "a value that is not pending"),
        ("store %1, %5 align 4", "a scalar or vector of elements of 8 bits or more"),
        ("mbarrier_wait %1, %5", "i32"),
        ("%9: f32 = shuffle index all %5, %2", "a scalar of 32 bits"),
    ] {
        assert_eq!(violation(body), refused(PENDING, expected), "{body}");
    }
}

#[test]
fn waits_give_what_was_pending() {
    let result = |value: u32, found: Type, expected: &str| Violation::Result {
        value: Value(value),
        found,
        expected: expected.to_owned(),
    };
    let four = Type::Vector(Element::F32, 4);
    assert_eq!(violation("%9: 2xf64 = wait products 0 %5"), result(9, Type::Vector(Element::F64, 2), "4xf32"));
    assert_eq!(violation("%9: pending.4xf32 = wait products 0 %5"), result(9, PENDING, "4xf32"));
    assert_eq!(violation("wait products 0 %5"), Violation::ResultCount { found: 0, expected: 1 });
    assert_eq!(violation("%9: 4xf32 = wait products 0"), Violation::ResultCount { found: 1, expected: 0 });
    assert_eq!(
        violation("%9: f32 = wait products 0 %4"),
        Violation::Operand {
            value: Value(4),
            found: Type::Scalar(Element::F32),
            expected: "a pending value".to_owned()
        }
    );
    assert_eq!((PENDING.after_wait(), four.to_pending()), (four, PENDING));
    assert_eq!((PENDING.bits(), PENDING.element_count(), PENDING.element()), (128, 4, None));
}

#[test]
fn mbarriers_lie_in_shared_memory_and_someone_arrives() {
    assert_eq!(violation("mbarrier_init %1, 0"), Violation::Arrivals);
    for body in [
        "mbarrier_init %2, 1",
        "mbarrier_arrive %2, 1",
        "mbarrier_wait %2, %0",
        "mbarrier_invalidate %2",
        "mbarrier_commit products %2",
    ] {
        let expected = Type::Pointer(MemorySpace::Shared).to_string();
        assert_eq!(
            violation(body),
            Violation::Operand { value: Value(2), found: Type::Scalar(Element::I32), expected },
            "{body}"
        );
    }
}

#[test]
fn operations_that_order_asynchronous_ones_are_warp_wide() {
    for body in [
        "commit copies",
        "wait copies 0",
        "mbarrier_init %1, 1",
        "mbarrier_arrive %1, 1",
        "mbarrier_wait %1, %0",
        "mbarrier_invalidate %1",
        "mbarrier_commit products %1",
        "tensor_allocate %1, 32",
        "tensor_free %0, 32",
        "proxy_fence",
    ] {
        let divergent = format!("if %3 {{ {body}\n yield }} else {{ yield }}");
        assert_eq!(violation(&divergent), Violation::DivergentControl { scope: "lanes of a warp" }, "{body}");
    }
}

#[test]
fn tensor_memory_is_allocated_in_powers_of_two_with_its_address_in_shared_memory() {
    for body in ["tensor_allocate %1, 48", "tensor_free %0, 48"] {
        assert_eq!(violation(body), Violation::TensorColumns { found: 48 }, "{body}");
    }
    let operand = |value: u32, found: Type, expected: Type| Violation::Operand {
        value: Value(value),
        found,
        expected: expected.to_string(),
    };
    let (word, shared) = (Type::Scalar(Element::I32), Type::Pointer(MemorySpace::Shared));
    assert_eq!(violation("tensor_allocate %2, 32"), operand(2, word, shared));
    assert_eq!(violation("tensor_free %1, 32"), operand(1, shared, word));
}

fn register(role: &str) -> InstructionOperand {
    let lanes = vec![vec![1, 0], vec![2, 0], vec![4, 0]];
    let bases = [(Dim::REGISTER, vec![vec![8, 0]]), (Dim::LANE, lanes)];
    let layout = LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 16), (Dim::tensor(1), 1)]).unwrap();
    InstructionOperand::Register { role: role.to_owned(), element: "f32".to_owned(), bits: 32, layout }
}

fn row(completion: Completion) -> Instruction {
    Instruction {
        name: "a".to_owned(),
        kind: InstructionKind::Matrix,
        operands: ["d", "a", "b", "c"].map(register).to_vec(),
        cycles: None,
        semantics: Semantics::Contract,
        completion,
        numerics: None,
        source: "invented".to_owned(),
    }
}

#[test]
fn rows_on_a_queue_give_what_is_pending_and_take_it_as_their_accumulator() {
    let queued = row(Completion::Queue(Queue::Mma));
    let signature = InstructionSignature::from_instruction(&queued);
    assert_eq!(signature.results, [ValueTypeRequirement::Pending(64)]);
    assert_eq!(
        signature.operands,
        [ValueTypeRequirement::Bits(64), ValueTypeRequirement::Bits(64), ValueTypeRequirement::Accumulator(64)]
    );
    let (plain, pending) = (Type::Vector(Element::F32, 2), Type::Pending(Element::F32, 2));
    assert_eq!(signature.check_types(&[plain, plain, pending], &[pending]), Ok(()));
    assert_eq!(signature.check_types(&[plain, plain, plain], &[pending]), Ok(()));
    assert!(signature.check_types(&[pending, plain, plain], &[pending]).is_err());
    assert!(signature.check_types(&[plain, plain, plain], &[plain]).is_err());
    assert!(
        InstructionSignature::from_instruction(&row(Completion::Immediate))
            .check_types(&[plain, plain, pending], &[plain])
            .is_err()
    );
    assert_eq!(ValueTypeRequirement::Pending(64).default_type(), Some(Type::Pending(Element::I32, 2)));

    let text = "kernel k() lanes 8 warps 1 {
      %0: 2xf32 = constant 0
      %1: 2xf32 = instruction \"a\" %0, %0, %0
    }";
    let module = text::parse_module(text).unwrap();
    assert!(verify_vendor_instructions(&module.kernels[0], &[row(Completion::Immediate)]).is_ok());
    let refused = verify_vendor_instructions(&module.kernels[0], &[queued]).unwrap_err().to_string();
    assert!(refused.contains("result 0 is 2xf32; expected a pending scalar or vector of 64 bits"), "{refused}");
}

/// A row without the field `completion` is synchronous: it may come from a writer that predates the field.
#[test]
fn rows_that_say_nothing_complete_at_once() {
    let mut written = serde_json::to_value(row(Completion::Immediate)).unwrap();
    assert!(written.get("completion").is_none());
    assert_eq!(serde_json::from_value::<Instruction>(written.clone()).unwrap().completion, Completion::Immediate);
    written["completion"] = serde_json::json!({ "queue": "products" });
    let read = serde_json::from_value::<Instruction>(written).unwrap();
    assert_eq!(read.completion, Completion::Queue(Queue::Mma));
}
