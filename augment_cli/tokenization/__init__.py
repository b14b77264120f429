"""Tokenisers: NLTK's Treebank tokens at array speed, NLTK itself, and a plug-in point."""

from augment_cli.tokenization.registry import TOKENIZERS, get_tokenizer
from augment_cli.tokenization.tokens import Tokenizer, Tokens, share_without_spaces, tokens_of_rows

__all__ = ["TOKENIZERS", "Tokenizer", "Tokens", "get_tokenizer", "share_without_spaces", "tokens_of_rows"]
