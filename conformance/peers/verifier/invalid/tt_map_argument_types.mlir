// rule: tt.map_elementwise: the arguments have the elements' types
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 1 : i32}> ({
^bb0(%x: i32):
    tt.map_elementwise.return %x : i32
  }) : (tensor<64xf32>) -> tensor<64xi32>
  tt.return
}
