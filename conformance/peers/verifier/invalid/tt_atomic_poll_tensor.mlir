// rule: tt.atomic_poll: one address, no tensor
tt.func public @k(%p: tensor<32x!tt.ptr<i32>>, %e: i32) {
  %0 = "tt.atomic_poll"(%p, %e) <{sem = 2 : i32, scope = 1 : i32}> : (tensor<32x!tt.ptr<i32>>, i32) -> i1
  tt.return
}
