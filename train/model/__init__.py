"""The model in training: the encoder it starts from, BERT's layers for CPUs, dropout, the masked head."""
