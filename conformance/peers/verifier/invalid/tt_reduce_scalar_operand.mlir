// rule: tt.reduce: the operands are tensors
tt.func public @k(%a: f32) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f32):
    tt.reduce.return %x : f32
  }) : (f32) -> f32
  tt.return
}
