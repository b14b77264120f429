"""English: its words, clauses and rules, the guards of a model's outputs; here longer lists of the rules."""

from augment_cli.resources import word_table
from augment_cli.syntax.tree import words

LISTS = {name: words(text) for name, text in word_table("grammar_words")}
HEADLINE = 9  # tokens that such a text has at least
BINDING = words(
    "the a an my your his her our their me i you he she we they it this that to of in on at for with from by "
    "and or is are was were be do does did not n't"
)
