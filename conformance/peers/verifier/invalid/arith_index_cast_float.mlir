// rule: arith.index_cast: integers and index
tt.func public @k(%x: f32) {
  %0 = arith.index_cast %x : f32 to index
  tt.return
}
