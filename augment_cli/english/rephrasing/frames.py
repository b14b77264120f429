"""The words that open requests and questions, and the frames that stand for one another."""

from __future__ import annotations

from augment_cli.syntax.tree import words

# What people ask an assistant to do. Those of the second list are nouns, too.
VERBS = words(
    "add adjust arrange ask bring calculate compare compute connect convert create deactivate activate "
    "decrease define delete describe disable display dim enable erase explain fetch find forward get give "
    "help identify include increase inform install keep list locate lower make mute notify open pause pay "
    "provide pull purchase put raise read recite recommend reduce remind remove repeat reply resume say "
    "send set show shuffle shut skip speak start stop suggest switch take tell translate turn unmute "
    "unsubscribe update upload verify"
)
NOUNS_TOO = words(
    "book buy call cancel change charge check close confirm contact cook download email estimate freeze "
    "google lock look mail mark message move name note order pick plan play post quote rate reschedule "
    "reserve report ring roll save schedule search share spell split text track transfer tweet unlock use "
    "write"
)
# What may follow a verb of the second list, so that it is one.
OBJECTS = words(
    "the a an my me our us this that these those some any all it him her them for in on up down off out "
    "to if when what how which who with from about at another every his their its your"
)
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
TOLD = (
    *(
        "can you tell me",
        "could you tell me",
        "can you please tell me",
        "could you please tell me",
        "tell me",
    ),
    *("please tell me", "do you know", "i want to know", "i need to know", "i would like to know"),
    *("i 'd like to know", "i ’d like to know", "would you tell me", "let me know"),
)
OTHERS: dict[str, tuple[str, ...]] = {
    "i want to": ("i'd like to", "i would like to"),
    "i 'd like to": ("i want to", "i would like to"),
    "i ’d like to": ("i want to", "i would like to"),
    "i would like to": ("i want to", "i'd like to"),
    "i need to": ("i have to", "i've got to"),
    "i have to": ("i need to", "i've got to"),
    "i want a": ("i'd like a", "i would like a"),
    "i want the": ("i'd like the", "i would like the"),
    "i want some": ("i'd like some", "i would like some"),
    "do i need to": ("do i have to",),
    "do i have to": ("do i need to",),
    "do you need to": ("do you have to",),
    "do you have to": ("do you need to",),
    "can i": ("could i", "is it possible for me to"),
    "could i": ("can i",),
    "may i": ("can i", "could i"),
    "can we": ("could we", "is it possible for us to"),
    "is it possible to": ("can you", "is there a way to"),
    "is there a way to": ("is it possible to", "is there any way to"),
    "is there any way to": ("is it possible to", "is there a way to"),
    "should i": ("do you think i should",),
    "should we": ("do you think we should",),
    "how do i": ("how can i", "how do you", "what's the way to"),
    "how can i": ("how do i", "how could i"),
    "how to": ("how do i", "how can i", "how do you"),
    "what are some": ("can you name some", "could you tell me some"),
    "why is it that": ("how come",),
}
REWORDED = {tuple(before.split()): after for before, after in OTHERS.items() if before != "how do i"}
