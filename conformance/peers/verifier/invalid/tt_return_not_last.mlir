// rule: tt.return: it ends its block
tt.func public @k(%x: i32) {
  "tt.return"() : () -> ()
  %0 = arith.addi %x, %x : i32
  tt.return
}
