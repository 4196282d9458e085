// rule: a value dominates its uses
tt.func public @k(%c: i1, %x: i32) {
    cf.cond_br %c, ^a, ^b
^a:
    %y = arith.addi %x, %x : i32
    cf.br ^b
^b:
    %z = arith.addi %y, %x : i32
    tt.return
}
