"""The longer word lists of the rules, by their names in `grammar_words.txt`."""

from augment_cli.resources import word_table
from augment_cli.syntax.tree import words

LISTS = {name: words(text) for name, text in word_table("grammar_words")}
