// rule: tt.make_range: start is below end
tt.func public @k() {
  %0 = tt.make_range {start = 64 : i32, end = 64 : i32} : tensor<64xi32>
  tt.return
}
