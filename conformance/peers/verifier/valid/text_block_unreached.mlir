// shows: a block that nothing reaches
tt.func public @k(%x: i32) {
    tt.return
^lost:
    %y = arith.addi %x, %x : i32
    tt.return
}
