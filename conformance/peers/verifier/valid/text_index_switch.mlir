// shows: scf.index_switch: cases and a default, with results
tt.func public @k(%x: index, %a: i32) {
  %0 = scf.index_switch %x -> i32
  case 0 {
    scf.yield %a : i32
  }
  case 7 {
    scf.yield %a : i32
  }
  default {
    scf.yield %a : i32
  }
  tt.return
}
