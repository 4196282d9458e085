// rule: tt.make_range: the result has end minus start elements
tt.func public @k() {
  %0 = tt.make_range {start = 16 : i32, end = 64 : i32} : tensor<64xi32>
  tt.return
}
