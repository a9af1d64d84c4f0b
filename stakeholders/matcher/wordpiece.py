"""WordPiece tokens of the English encoder: lower case, accents off, longest piece first."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD = 40  #: characters; anything longer is no word and costs quadratic time to take apart
_SYMBOLS = frozenset("$+<=>^`|~")


class WordPiece:
    """Turns a text into token numbers. ``vocabulary`` maps a piece to its row in the embedding table."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._unknown = vocabulary[UNKNOWN]
        self.start, self.end = vocabulary[START], vocabulary[END]  #: frame a text before it is encoded

    def encode(self, text: str) -> list[int]:
        """Token numbers, without the start and end marks."""
        return [piece for word in _words(text) for piece in self._pieces(word)]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get(("##" if start else "") + word[start:end])
                if piece is not None:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces


def _words(text: str) -> list[str]:
    spaced: list[str] = []
    for char in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(char)
        if char.isspace():
            spaced.append(" ")
        elif category == "Mn" or category[0] == "C":
            continue
        elif category[0] == "P" or char in _SYMBOLS or "\u4e00" <= char <= "\u9fff":
            spaced.append(f" {char} ")
        else:
            spaced.append(char)
    return "".join(spaced).split()
