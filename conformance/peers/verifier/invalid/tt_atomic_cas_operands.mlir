// rule: tt.atomic_cas: three operands
tt.func public @k(%p: !tt.ptr<i32>, %c: i32) {
  %0 = "tt.atomic_cas"(%p, %c) <{sem = 1 : i32, scope = 1 : i32}> : (!tt.ptr<i32>, i32) -> i32
  tt.return
}
