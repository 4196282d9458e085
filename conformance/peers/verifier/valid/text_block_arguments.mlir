// shows: blocks with arguments, in a loop
tt.func public @k(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cf.br ^head(%c0 : i32)
^head(%i: i32):
    %c = arith.cmpi slt, %i, %n : i32
    cf.cond_br %c, ^body, ^end
^body:
    %j = arith.addi %i, %c1 : i32
    cf.br ^head(%j : i32)
^end:
    tt.return
}
