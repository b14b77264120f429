"""A verifier: a small network beside an encoder that says where one text turns what another says."""
