// rule: cf.br: the values have the arguments' types
tt.func public @k(%x: i64) {
    cf.br ^next(%x : i64)
^next(%a: i32):
    tt.return
}
