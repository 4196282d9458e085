// rule: the entry block is nobody's next
tt.func public @k() {
^first:
    cf.br ^first
}
