// shows: arith: products and sums of both halves
tt.func public @k(%x: i32) {
  %0:2 = arith.mulsi_extended %x, %x : i32
  %1:2 = arith.mului_extended %x, %x : i32
  %2:2 = arith.addui_extended %x, %x : i32, i1
  tt.return
}
