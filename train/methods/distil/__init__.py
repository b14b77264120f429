"""A static encoder from a teacher: vocabulary, table, regression on the teacher's sentence vectors.

From Python it is one call, ``train.methods.distil.distil.distil_to(out, store, teacher)``.
"""
