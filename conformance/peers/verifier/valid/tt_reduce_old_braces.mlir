// shows: tt.reduce: axis in braces behind the region
tt.func public @k(%a: tensor<64x32xi32>) {
  %0 = "tt.reduce"(%a) ({
^bb0(%x: i32, %y: i32):
    %s = arith.maxsi %x, %y : i32
    tt.reduce.return %s : i32
  }) {axis = 0 : i32} : (tensor<64x32xi32>) -> tensor<32xi32>
  tt.return
}
