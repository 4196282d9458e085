// rule: tt.make_range: the elements are i32
tt.func public @k() {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi64>
  tt.return
}
