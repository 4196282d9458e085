// rule: tt.scan: reverse is said
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.scan"(%a) <{axis = 0 : i32}> ({
^bb0(%x: f32, %y: f32):
    tt.scan.return %x : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  tt.return
}
