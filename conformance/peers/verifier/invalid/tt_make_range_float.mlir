// rule: tt.make_range: the elements are integers
tt.func public @k() {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xf32>
  tt.return
}
