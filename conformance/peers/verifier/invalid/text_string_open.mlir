// rule: a string ends in its line
module attributes {a = "open} {
}
