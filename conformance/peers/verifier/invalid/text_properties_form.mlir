// rule: properties of a generic form stand in <{ }>
tt.func public @k() {
  %0 = "tt.make_range"() <start = 0 : i32, end = 64 : i32> : () -> tensor<64xi32>
  tt.return
}
