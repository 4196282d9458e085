// rule: tt.map_elementwise: pack is a power of two
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 3 : i32}> ({
^bb0(%x: f32, %y: f32, %z: f32):
    tt.map_elementwise.return %x, %y, %z : f32, f32, f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  tt.return
}
