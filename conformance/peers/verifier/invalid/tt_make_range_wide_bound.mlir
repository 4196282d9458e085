// rule: tt.make_range: the bounds are i32
tt.func public @k() {
  %0 = tt.make_range {start = 0 : i64, end = 64 : i64} : tensor<64xi32>
  tt.return
}
