// shows: arith.addi: nsw and nuw
tt.func public @k(%x: i32) {
  %0 = arith.addi %x, %x overflow<nsw> : i32
  %1 = arith.addi %x, %x overflow<nsw, nuw> : i32
  %2 = arith.shli %x, %x overflow<nuw> : i32
  tt.return
}
