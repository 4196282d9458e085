// shows: tt.map_elementwise: a region of several blocks
tt.func public @k(%a: tensor<64xi32>) {
  %0 = "tt.map_elementwise"(%a) <{pack = 1 : i32}> ({
^bb0(%x: i32):
    %c = arith.cmpi sgt, %x, %x : i32
    cf.cond_br %c, ^bb1, ^bb2(%x : i32)
^bb1:
    %y = arith.addi %x, %x : i32
    cf.br ^bb2(%y : i32)
^bb2(%z: i32):
    tt.map_elementwise.return %z : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  tt.return
}
