// shows: arith.extui: from i1 to i32
tt.func public @k(%x: i1, %y: tensor<64xi1>) {
  %0 = arith.extui %x : i1 to i32
  %1 = arith.extui %y : tensor<64xi1> to tensor<64xi32>
  tt.return
}
