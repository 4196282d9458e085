// rule: tt.map_elementwise: operands and results have one shape
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 1 : i32}> ({
^bb0(%x: f32):
    tt.map_elementwise.return %x : f32
  }) : (tensor<64xf32>) -> tensor<32xf32>
  tt.return
}
