"""SNCSE: negations as soft negatives."""
