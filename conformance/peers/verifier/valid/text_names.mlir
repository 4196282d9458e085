// shows: names of values: letters, digits, dots, dashes, dollars
tt.func public @k(%x: i32, %y_1: i32, %z.a-b$c: i32) {
  %_ = arith.addi %x, %y_1 : i32
  %007 = arith.addi %_, %z.a-b$c : i32
  tt.return
}
