"""Broken clauses, and words that do not go with their neighbours; sentences written for these tests."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augment_cli.english.guards.fidelity import unfaithful

# As readers found them in a model's outputs.
WRONG = [
    ("The term means skiing on one ski.", "On one ski, the term means skiing."),
    ("It came eighth, up from 14 in 2013.", "In 2013, it came eighth, up from 14."),
    ("It's all under somebody's thumb.", "Under someone's thumb, it's all."),
    ("The terms began as names of boats.", "As names of boats, the terms began."),
    ("He escaped losing his rank.", "Losing his rank, he escaped."),
    ("They were up in a second, riding after him.", "After him, they were up in a second, riding."),
    ("I paid a price that I should rue if I lost.", "If I lost, I paid a price that I should rue."),
    ("They sailed, when they were caught.", "When they were caught, they sailed."),
    ("In 1900, Olaf asked her to learn Dutch.", "Olaf asked her to learn Dutch in 1900."),
    ("In 1964, they set the age of six.", "They set the age of six in 1964."),
    ("In 1950, Olaf moved and later left it.", "Olaf moved and later left it in 1950."),
    ("While Olaf found none, he found friends.", "He found friends while Olaf found none."),
    ("Roads are the concern of towns.", "The concern of towns are roads."),
    ("Oslo is the largest port, ahead of Bergen.", "The largest port, ahead of Bergen is Oslo."),
    ("Pairs are shared by two atoms.", "Two atoms shared pairs."),
    ("Meals were gotten by the children.", "The children gotten meals."),
    ("She said this with joy.", "This with joy was said by her."),
    ("Most teams play in cups.", "In cups are played by most teams."),
    ("The war ended the rule in China.", "The rule was ended by the war in China."),
    ("Olga kept the cats.", "The cats was kept by Olga."),
    ("They held northern Syria and upper Egypt.", "They held northern upper and Syria Egypt."),
    ("It has ease of use and feature set.", "It has ease of feature and use set."),
    ("He drove his car and me away.", "He drove his me and car away."),
    ("The bow and the general rudeness hurt.", "The general and the bow rudeness hurt."),
    ("Olaf looked up in wonder.", "Wonder, Olaf looked up."),
    ("He left, stooping and avoiding looking back.", "He left, avoiding and stooping looking back."),
    ("They read one book at a time.", "At a time, they read one book."),
    ("In his last duel, he was as kind as ever.", "He was as kind as ever in his last duel."),
    ("He took his cocked hat and stick.", "He took his cocked stick and hat."),
    ("It rains, for it is long before we dine.", "Before we dine, it rains, for it is long."),
    ("It must be built up slowly.", "It must be constructed up slowly."),
    ("He went on with it.", "He went on it."),
    ("Olga went to see if the gate stood open.", "If the gate stood open, Olga went to see."),
    ("Olga hesitated a moment.", "A moment was hesitated by her."),
    ("It froze between the tenth and twelfth night.", "It froze between the twelfth and tenth night."),
    ("At dusk he walked home, the dogs barking.", "The dogs barking, at dusk he walked home."),
    ("They left, that this should end.", "They left, in order to this should end."),
    ("If we were ill, who would cook?", "If we's ill, who would cook?"),
    ("What is there in that box?", "What does there in that box?"),
    ('"Indeed! And who told you?"', '"In fact! And who told you?"'),
    ("She cried 'It is late!' and ran.", "She cried 'it is late!' and ran."),
    ("That very day he left.", "That extremely day he left."),
    ("They left, and before noon they ate.", "Before noon they ate, they left."),
    ("A gust shook the gate; he ran.", "As a gust shook the gate; he ran."),
    ("This was the old inn.", "The old inn was this."),
    ("And who am I to judge?", "And who'm I to judge?"),
    ("I saw him never again.", "He was seen by me never again."),
    ("Olga scolded Ivo by a look.", "Ivo was scolded by Olga by a look."),
    ("Only then did he leave.", "Then did he leave."),
    ("But Olga offered no help.", "No help was offered by Olga."),
    ("This follows from it.", "These follows from it."),
    ("Not another word was said.", "Not other word was said."),
    ("He does not eat.", "He don't eat."),
    ("The delay is due directly to rain.", "The delay is because directly to rain."),
    ("A half-grown girl sang.", "A half-tall girl sang."),
    ('The "weak" one is next to the "strong" one.', 'The "weak" one is next to the "powerful" one.'),
    ("They sold the remaining part.", "They sold the staying part."),
    ("The children's games helped.", "The kids's games helped."),
    ("There are so many rooms.", "There are so a large number of rooms."),
    ("They arrive at that.", "They arrive to at that."),
    ("It may very well rain.", "It may extremely well rain."),
    ("Do not think it rained.", "It rained, don't think."),
    ("I thought it rained, and that it froze.", "It rained, and that it froze, I thought."),
    ("It is the valet.", "It is the valet of it."),
    ("They bordered the bay of Oslo.", "They bordered bay of Oslo."),
    ("He was called back.", "He was known as back."),
    ("She is the most powerful one.", "She is the most strong one."),
    ("How we ate I have no idea.", "For what way we ate I have no idea."),
    ("Harry was staying at home.", "Harry was remaining at home."),
    ("A nerve less tried broke.", "A nerve less attempted broke."),
    ("He awaited next day's talk.", "He awaited the talk of next day."),
    ("They parted at night.", "They parted during the night."),
    ("He soon moved.", "He soon subsequently moved."),
    ("It is like a child.", "It is like a kid."),
    ("The dress hardly moved.", "The dress moved hardly."),
    ("Such was the home that he left.", "The home that he left was such."),
    ("You have happened upon us.", "You have occurred on us."),
    ("No indeed, men of Oslo.", "No in fact, men of Oslo."),
    ("She was moaning and groaning.", "She was groaning and groaning."),
    ("Tears started to his eyes.", "Tears began to his eyes."),
    ("It has rooms such as the king never saw.", "It has rooms like the king never saw."),
    ("Thus she spoke.", "Hence she spoke."),
    ("Those in error deny it.", "Those in mistake deny it."),
    ("They won, but rain fell in May.", "In May, they won, but rain fell."),
    ("They announced it.", "They declared it."),
    ("The error was found.", "The mistake was found."),
    ("It was an old seat.", "It an old seat."),
    ("The veins formed by oil were deep.", "The veins that were formed by oil were deep."),
    ("Be such as he seems.", "Be like seems he."),
    ("He wept for very weariness.", "He wept for extremely weariness."),
    ("Most teams play in cups.", "In cups are played by most teams."),
]
# Made up like outputs that earlier guards let pass.
ANALOGUES = [
    ("A different team played it.", "A team different played it."),
    ("The mill was owned from 1502 by the abbey.", "The mill owns from 1502 by the abbey."),
    ("He served under Olaf Berg, who was replaced.", "He served under Olaf Berg, who was."),
    ("It was not too far though for the old horse.", "It was not too far although for the old horse."),
    ("The 21 remaining sailors rowed to the shore.", "The 21 staying sailors rowed to the shore."),
    ("Most of the species occur in Asia.", "Most of the species happen in Asia."),
    ("The farm was sold by the widow to a miller in May.", "The widow sold to a miller the farm was in May."),
    (
        "The bridge near the mill was built by two brothers.",
        "Two brothers was built the bridge near the mill.",
    ),
    ("The boats that they bought were sold in May.", "The boats were sold that they bought in May."),
    ("She was never seen in the village again.", "She never saw in the village again."),
    ("The choir, which sings here, was founded in 1962.", "The choir was founded in 1962, which sings here."),
    ("He was so tired that he slept at once.", "He was so tired slept that he at once."),
    ("It has a small church and a large school.", "It has a large church and a small school."),
    ("The song was written for the village.", "The song wrote for the village."),
]
SOUND = [
    ("They met after his death.", "After his death, they met."),
    ("The rule ended in the 1860s.", "In the 1860s, the rule ended."),
    ("It began in May.", "In May, it began."),
    ("In 1900, Olaf sent a letter.", "Olaf sent a letter in 1900."),
    ("The dog barked when Olaf came.", "When Olaf came, the dog barked."),
    ("When Olaf came, the dog barked.", "The dog barked when Olaf came."),
    ("Shots were fired by the soldiers.", "The soldiers fired shots."),
    ("They own the rural and urban houses.", "They own the urban and rural houses."),
    ("I'm glad, and I can't sleep.", "I am glad, and I can't sleep."),
    ("If it rains, they stay.", "They stay if it rains."),
    ("They stay if it rains.", "If it rains, they stay."),
    ("In order to win, they ran.", "To win, they ran."),
    ("A very old inn stood there.", "An extremely old inn stood there."),
    ("The inn lies between the road and the lake.", "The inn lies between the lake and the road."),
    ("They bought it.", "They purchased it."),
    ("It seemed old.", "It appeared old."),
]


@pytest.mark.parametrize(("original", "output"), WRONG)
def test_what_readers_found_wrong_is_turned_down(original, output):
    assert unfaithful(original, output) is not None
    assert unfaithful(original, original) is None


def test_of_the_made_up_slips_nearly_all_are_found():
    missed = [output for original, output in ANALOGUES if unfaithful(original, output) is None]
    assert missed in ([], ["The widow sold to a miller the farm was in May."])


@pytest.mark.parametrize(("original", "output"), SOUND)
def test_a_sound_turn_passes(original, output):
    assert unfaithful(original, output) is None


WORDS = ["the", "old", "boats", "left", "in", "1962", "and", "by", "Olaf", ",", "when", "was", "built"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@settings(max_examples=25)
@given(SENTENCES, SENTENCES)
def test_any_two_texts_are_compared_and_a_text_with_itself_is_sound(original, output):
    unfaithful(original, output)
    assert unfaithful(original, original) is None
