// rule: arith.bitcast: no pointers
tt.func public @k(%x: !tt.ptr<f32>) {
  %0 = arith.bitcast %x : !tt.ptr<f32> to i64
  tt.return
}
