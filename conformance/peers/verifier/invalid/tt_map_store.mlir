// rule: tt.map_elementwise: no stores within
tt.func public @k(%a: tensor<64xf32>, %p: !tt.ptr<f32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 1 : i32}> ({
^bb0(%x: f32):
    tt.store %p, %x : !tt.ptr<f32>
    tt.map_elementwise.return %x : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  tt.return
}
