// shows: arith.index_cast: from i32 to index
tt.func public @k(%x: i32) {
  %0 = arith.index_cast %x : i32 to index
  tt.return
}
