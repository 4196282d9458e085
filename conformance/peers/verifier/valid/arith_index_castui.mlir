// shows: arith.index_castui: from index to i64
tt.func public @k(%x: index) {
  %0 = arith.index_castui %x : index to i64
  tt.return
}
