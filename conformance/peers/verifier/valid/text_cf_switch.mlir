// shows: cf.switch: cases with values
tt.func public @k(%x: i32) {
    cf.switch %x : i32, [
      default: ^a,
      0: ^b(%x : i32),
      1: ^a
    ]
^a:
    tt.return
^b(%y: i32):
    tt.return
}
