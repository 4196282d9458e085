// rule: a block has its name once
tt.func public @k() {
    cf.br ^a
^a:
    tt.return
^a:
    tt.return
}
