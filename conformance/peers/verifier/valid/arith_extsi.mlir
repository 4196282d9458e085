// shows: arith.extsi: from i8 to i32
tt.func public @k(%x: i8, %y: tensor<64xi8>) {
  %0 = arith.extsi %x : i8 to i32
  %1 = arith.extsi %y : tensor<64xi8> to tensor<64xi32>
  tt.return
}
