"""Longer texts whose words nothing binds: headlines that somebody took the function words out of."""

from augment_cli.syntax.tree import words

HEADLINE = 9  # tokens that such a text has at least
BINDING = words(
    "the a an my your his her our their me i you he she we they it this that to of in on at for with from by "
    "and or is are was were be do does did not n't"
)
