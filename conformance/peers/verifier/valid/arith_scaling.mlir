// shows: arith.scaling_extf, arith.scaling_truncf, arith.convertf, arith.subui_extended
tt.func public @k(%a: f8E4M3FN, %s: f8E8M0FNU, %x: i32, %h: f16) {
  %0 = arith.scaling_extf %a, %s : f8E4M3FN, f8E8M0FNU to f32
  %1 = arith.scaling_truncf %0, %s : f32, f8E8M0FNU to f8E4M3FN
  %2 = arith.convertf %h : f16 to bf16
  %3:2 = arith.subui_extended %x, %x : i32, i1
  tt.return
}
