// rule: tt.reduce: at least one operand
tt.func public @k(%a: tensor<64xf32>) {
  "tt.reduce"() <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f32):
    tt.reduce.return %x : f32
  }) : () -> ()
  tt.return
}
