// rule: tt.map_elementwise: at least one operand
tt.func public @k() {
  "tt.map_elementwise"() <{pack = 1 : i32}> ({
^bb0:
    tt.map_elementwise.return
  }) : () -> ()
  tt.return
}
