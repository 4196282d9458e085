// rule: cf.br: the block is there
tt.func public @k() {
  cf.br ^nowhere
}
