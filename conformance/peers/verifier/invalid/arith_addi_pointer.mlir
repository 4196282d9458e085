// rule: arith.addi: no pointers
tt.func public @k(%x: !tt.ptr<f32>) {
  %0 = arith.addi %x, %x : !tt.ptr<f32>
  tt.return
}
