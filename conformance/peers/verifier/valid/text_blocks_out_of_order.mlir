// shows: a value used in the text before the block that makes it
tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {
    cf.br ^two
^one:
    tt.store %p, %y : !tt.ptr<i32>
    tt.return
^two:
    %y = arith.addi %x, %x : i32
    cf.br ^one
}
