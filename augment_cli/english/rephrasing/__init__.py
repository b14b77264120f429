"""The rules of `rephrase`: each file finds places for some rules and writes the edits of those chosen.

`grammar.py` is what they see of a parse, `places.py` what they return, and how places that collide are
settled. Labels are those of Universal Dependencies, as the shipped pipeline gives them.
"""
