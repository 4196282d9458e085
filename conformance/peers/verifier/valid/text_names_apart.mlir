// shows: several names for several results
tt.func public @k(%x: i32) {
  %a, %b = arith.addui_extended %x, %x : i32, i1
  tt.return
}
