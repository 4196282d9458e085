// rule: one text is one list of operations
module {
}
]
