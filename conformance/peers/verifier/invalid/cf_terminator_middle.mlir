// rule: a terminator ends its block
tt.func public @k(%x: i32) {
    "cf.br"()[^a] : () -> ()
    %y = arith.addi %x, %x : i32
    tt.return
^a:
    tt.return
}
