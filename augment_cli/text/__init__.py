"""Text as arrays: code points and spans, edits, letter case, spaces; numbers in words; word vectors."""
