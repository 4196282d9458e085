// rule: cf.br: as many values as the block's arguments
tt.func public @k(%x: i32) {
    cf.br ^next
^next(%a: i32):
    tt.return
}
