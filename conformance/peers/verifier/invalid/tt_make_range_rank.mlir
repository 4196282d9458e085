// rule: tt.make_range: one axis
tt.func public @k() {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<8x8xi32>
  tt.return
}
