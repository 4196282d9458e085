// rule: cf.switch: the flag is an integer
tt.func public @k(%x: f32) {
    "cf.switch"(%x) [^a] <{case_operand_segments = array<i32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (f32) -> ()
^a:
    tt.return
}
