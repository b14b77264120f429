"""What a protocol declares (`Protocol`), is run with (`Options`) and returns (`TaskScore`)."""
