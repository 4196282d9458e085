// rule: tt.func: the last block has a terminator
tt.func public @k(%x: i32) {
}
