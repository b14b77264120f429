"""Tags of inflected forms as bits, so that a form that serves several tags is one row."""

TAGS = {
    tag: 1 << position
    for position, tag in enumerate(
        ["NN", "NNS", "VB", "VBZ", "VBD", "VBN", "VBG", "JJ", "JJR", "JJS", "RB", "RBR", "RBS"]
    )
}
