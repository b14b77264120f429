"""A static encoder from a teacher: vocabulary, table, regression on the teacher's sentence vectors."""
