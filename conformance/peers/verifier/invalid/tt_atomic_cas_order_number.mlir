// rule: tt.atomic_cas: sem is a number of the known ones
tt.func public @k(%p: !tt.ptr<i32>, %c: i32) {
  %0 = "tt.atomic_cas"(%p, %c, %c) <{sem = 9 : i32, scope = 1 : i32}> : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}
