// shows: cf.cond_br: weights, and values for both blocks
tt.func public @k(%c: i1, %x: i32) {
    cf.cond_br %c weights([7, 1]), ^a(%x : i32), ^b(%x, %x : i32, i32)
^a(%y: i32):
    tt.return
^b(%z: i32, %w: i32):
    tt.return
}
