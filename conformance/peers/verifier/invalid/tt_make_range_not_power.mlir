// rule: tt.make_range: a tensor has a power of two of elements
tt.func public @k() {
  %0 = tt.make_range {start = 0 : i32, end = 48 : i32} : tensor<48xi32>
  tt.return
}
