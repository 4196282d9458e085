// shows: ub.unreachable and ub.poison
tt.func public @k(%c: i1) {
    %0 = ub.poison : tensor<64xf32>
    %1 = ub.poison : i32
    cf.cond_br %c, ^a, ^b
^a:
    tt.return
^b:
    ub.unreachable
}
