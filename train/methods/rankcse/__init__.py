"""RankCSE: the order of a teacher's similarities."""
