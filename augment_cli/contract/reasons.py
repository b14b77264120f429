"""Why a row of a stage is unchanged, or a line was set aside: the values of the `reason` column."""

from enum import StrEnum


class Reason(StrEnum):
    """A reason a line, with what it says to people; an augmentation uses these, or adds its own here."""

    words: str  # why, for people

    def __new__(cls, value: str, words: str = "") -> "Reason":
        """A member that is its value, and knows its words."""
        member = str.__new__(cls, value)
        member._value_, member.words = value, words or value.replace("_", " ")
        return member

    # Of any augmentation:
    NO_TOKEN = "no_token", "nothing but white space"
    NO_ELIGIBLE_TOKEN = "no_eligible_token", "no word that it may change"
    NO_POSITION_DRAWN = "no_position_drawn", "the draws chose no token"
    EMPTY_WINDOW = "empty_window", "no other term to put in"
    SAME_TEXT = "same_text", "the edits give the original again"
    TOO_FEW_WORDS = "too_few_words", "too few words to leave one out or move it"
    GAP = "gap", "something is missing in the text, such as `born in , was`"
    PROTECTED = "protected", "an address, handle, hashtag, tag or the like would be cut into"
    NOT_MADE = "not_made", "the stage that it runs on (--of) has no text for it"
    # Of rules on syntax:
    RULE_DOES_NOT_APPLY = "rule_does_not_apply", "the drawn rule finds no place in the sentence"
    NO_RULE_APPLIES = "no_rule_applies", "none of the rules finds a place in the sentence"
    NO_FINITE_VERB = "no_finite_verb", "the root is not a finite verb"
    NO_SUBJECT = "no_subject", "the main verb has no subject"
    NEGATED = "negated", "the verb is negated already"
    OTHER_AUXILIARY = "other_auxiliary", "have, do, or the 'to' of an infinitive"
    QUESTION = "question", "it asks, and asserts nothing that could be affirmed or denied"
    INVERTED = "inverted", "the verb stands in front of its subject"
    NO_AUXILIARY_FITS = "no_auxiliary_fits", "none of those to draw from has the tense"
    DOUBTFUL_PARSE = "doubtful_parse", "the word cannot have the form that its tag says"
    ONE_NEGATION_ONLY = "one_negation_only", "fewer than two places for a negation"
    NO_OBJECT = "no_object", "the main verb has no object"
    ONE_SENTENCE = "one_sentence", "nothing to put in another order"
    # Of models, whose answer was turned down:
    EMPTY_OUTPUT = "empty_output", "no word in it"
    SAME_WORDS = "same_words", "the original but for case and punctuation"
    TRUNCATED_OUTPUT = "truncated_output", "the model ran into its limit"
    LOOPING_OUTPUT = "looping_output", "a piece repeats itself"
    WRONG_SCRIPT = "wrong_script", "letters that the original's script does not have"
    ABSURD_LENGTH = "absurd_length", "far longer or shorter than the original"
    MEANING_LOST = "meaning_lost", "none of the candidates means the same"
    INVENTED_WORD = "invented_word", "a word that is neither the original's nor any vocabulary's"
    NAME_OR_NUMBER_CHANGED = "name_or_number_changed", "a name, number or rare word is lost, new or other"
    UNPAIRED_MARK = "unpaired_mark", "brackets, quotation marks or symbols that are not as before"
    QUOTATION_CHANGED = "quotation_changed", "what stands inside quotation marks is not as before"
    NEGATION_CHANGED = "negation_changed", "more or fewer negative words"
    WORD_ADDED = "word_added", "a content word that stands for nothing of the original"
    WORD_LOST = "word_lost", "a content word of the original that nothing stands for"
    BROKEN_GRAMMAR = "broken_grammar", "a slip that no sentence has"
    UNLIKELY_WORDING = "unlikely_wording", "a token that the model itself finds unlikely there"
    UNKNOWN_CHARACTER = "unknown_character", "a word whose characters the model lacks did not come back"
    INPUT_TOO_LONG = "input_too_long", "longer than what the model was trained on, or reads"
    BEYOND_LIMIT = "beyond_limit", "beyond --rows: the model is run on the first rows only"
    # Of answers that a server gave:
    NO_ANSWER = "no_answer", "the request failed, or was not made"
    REFUSED = "refused", "the model would not"
    NOT_PARSABLE = "not_parsable", "not of the form that was asked for"
    OTHER_LENGTH = "other_length", "not shorter, or not longer, as was asked"
    UNSURE = "unsure", "a judge that cannot tell"
    # Of lines that are set aside, and of pairs that the input brought along:
    MISSING = "missing", "the input has no text there"
    CONTROL_CHARACTER = "control_character", "a control character in the text"
    TOO_LONG = "too_long", "longer than lines of a corpus may be"
    # Of lines that are set aside alone:
    NOT_UTF8 = "not_utf8", "bytes that are no UTF-8, or not of the encoding that was named"
    EMPTY = "empty", "nothing but white space in the line"
    BROKEN_JSON = "broken_json", "no JSON object"
    NO_TEXT_FIELD = "no_text_field", "an object without the text's field"
    WRONG_TYPE = "wrong_type", "a text, id or kept field of another type than text, such as a number or list"
    BROKEN_ROW = "broken_row", "a row of csv or tsv that cannot be read"
    FIELD_COUNT = "field_count", "more or fewer fields than the header has"
    DUPLICATE = "duplicate", "an equal text was kept before"
    NEAR_DUPLICATE = "near_duplicate", "a nearly equal text was kept before"
    DAMAGED_GZIP = "damaged_gzip", "from here on the file's gzip stream is damaged"
    DAMAGED_ZSTD = "damaged_zstd", "from here on the file's zst stream is damaged"
    DAMAGED_FILE = "damaged_file", "from here on the file cannot be read"
    UNCLOSED_QUOTE = "unclosed_quote", "a quotation mark that is never closed took the rest of the file"
    DECOMPRESSION_BOMB = "decompression_bomb", "a small file that swells without end"
    # Of mined negatives:
    NO_CANDIDATE = "no_candidate", "no other sentence in the range of ranks"
    ALL_CANDIDATES_SKIPPED = "all_candidates_skipped", "those in it are too like the positive, or unlike"
    TOO_FEW_CANDIDATES = "too_few_candidates", "fewer allowed ones than negatives asked for"
    NO_POSITIVE = "no_positive", "no positive, or no vector, to compare with"


def in_words(reason: str) -> str:
    """A reason for people: what it says of itself, or of one that is not ours its name."""
    known = Reason.__members__.get(reason.upper())
    return known.words if known is not None else reason.replace("_", " ")
