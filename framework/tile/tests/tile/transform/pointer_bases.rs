//! The parameters that pointers come from, through loops.

use tilewright_tile::op::name::tt;
use tilewright_tile::transform::loads::PointerBases;

use super::read;

/// Returns the names of the parameters that the pointers of the stores come from, in the order of the text; `-` for an
/// unknown parameter.
fn stored_bases(statements: &str) -> String {
    let module = read(&format!(
        "module {{
 tt.func public @f(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %a: i32, %m: i1) {{
  {statements}
  tt.return
 }}
}}"
    ));
    let function = module.functions.first().expect("a function");
    let body = function.body.as_ref().expect("a body");
    let bases = PointerBases::of(body);
    let stores = body.walk_region(body.root()).into_iter().filter(|&op| body.op(op).name() == tt::STORE);
    let names = stores.map(|store| bases.find(body.op(store).operands[0]));
    names.map(|base| base.map_or("-".to_owned(), |base| body.display_name(base))).collect::<Vec<_>>().join(" ")
}

#[test]
fn pointers_come_from_parameters() {
    let looped = |next: &str| {
        format!(
            "%r:2 = scf.for %k = %a to %a step %a iter_args(%x = %p, %y = %q) -> (!tt.ptr<i32>, !tt.ptr<i32>) : i32 {{
   %x1 = tt.addptr %x, %a : !tt.ptr<i32>, i32
   tt.store %x1, %a : !tt.ptr<i32>
   tt.store %y, %a : !tt.ptr<i32>
   scf.yield {next} : !tt.ptr<i32>, !tt.ptr<i32>
  }}
  tt.store %r#0, %a : !tt.ptr<i32>"
        )
    };
    for (statements, expected) in [
        ("tt.store %q, %a : !tt.ptr<i32>".to_owned(), "%q"),
        ("%s = arith.select %m, %p, %q : !tt.ptr<i32>\n  tt.store %s, %a : !tt.ptr<i32>".to_owned(), "-"),
        (looped("%x1, %y"), "%p %q %p"),
        // Each pointer of an iteration may be the other one of the iteration before.
        (looped("%y, %x1"), "- - -"),
        // The second pointer stays itself until it becomes the first one.
        (looped("%x1, %x"), "%p - %p"),
        (
            "%r:2 = scf.while (%x = %p, %y = %q) : (!tt.ptr<i32>, !tt.ptr<i32>) -> (!tt.ptr<i32>, !tt.ptr<i32>) {
   scf.condition(%m) %y, %x : !tt.ptr<i32>, !tt.ptr<i32>
  } do {
  ^bb0(%u: !tt.ptr<i32>, %v: !tt.ptr<i32>):
   tt.store %u, %a : !tt.ptr<i32>
   scf.yield %v, %u : !tt.ptr<i32>, !tt.ptr<i32>
  }
  tt.store %r#0, %a : !tt.ptr<i32>"
                .to_owned(),
            "%q %q",
        ),
    ] {
        assert_eq!(stored_bases(&statements), expected, "{statements}");
    }
}
