"""The words that open requests and questions, and the frames that stand for one another."""

from __future__ import annotations

from augment_cli.resources import word_list, word_table
from augment_cli.syntax.tree import words

# What people ask an assistant to do. Those of the second list are nouns, too.
VERBS = frozenset(word_list("request_verbs"))
NOUNS_TOO = frozenset(word_list("request_nouns"))
# What may follow a verb of the second list, so that it is one.
OBJECTS = frozenset(word_list("request_objects"))
QUESTION_WORDS = words("what who where when why how which")
HAVE = words("have has had")
BE = words("is are was were")
MODALS = words("can could will would should must might")
DO = {"do": "", "does": "VBZ", "did": "VBD"}
AUXILIARIES = BE | MODALS | HAVE | frozenset(DO)
SUBJECTS = words("i you we they he she it there")
NAMES_THINGS = words("the my your our his her their")
ENDS = words(". ? !")
WEIGHT = words('" “ ” : ; ( ) [ ] … ... – —')
NO_QUESTION = words("about come if not else up")
REQUESTS = ("could you {}", "can you {}", "please {}", "can you please {}", "could you please {}")
WISHES = ("i'd like you to {}", "i need you to {}", "i want you to {}")
ASKING = ("can you tell me {}", "could you tell me {}", "do you know {}")
TELLING = ("tell me {}", "please tell me {}", "i'd like to know {}", "i want to know {}")
# Beginnings of a request, of a question that is told, and of a wish, the longest first.
POLITE = ("please", "pls", "plz", "kindly")
ABLE = tuple(f"{modal} {you}" for modal in ("can", "could", "would", "will") for you in ("you", "u"))
WISHED = tuple(
    f"{wish} you to" for wish in ("i want", "i need", "i would like", "i'd like", "i 'd like", "i’d like")
)
TOLD = word_list("told_questions")
OTHERS = {before: tuple(after) for before, *after in word_table("request_frames")}
REWORDED = {tuple(before.split()): after for before, after in OTHERS.items() if before != "how do i"}
