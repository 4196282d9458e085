// rule: tt.map_elementwise: pack arguments for each operand
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 2 : i32}> ({
^bb0(%x: f32):
    tt.map_elementwise.return %x, %x : f32, f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  tt.return
}
