// rule: cf.cond_br: the condition is i1
tt.func public @k(%c: i32) {
    cf.cond_br %c, ^a, ^b
^a:
    tt.return
^b:
    tt.return
}
