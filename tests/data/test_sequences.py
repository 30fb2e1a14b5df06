import numpy as np

from epochcost.data.sequences import joined, padded

TOKENS = np.array([1, 2, 3, 4, 5, 6, 7], np.uint16)
ENDS = np.array([3, 3, 5, 7])


def test_texts_keep_their_end_and_are_filled_up_with_zeros():
    assert padded(TOKENS, ENDS, 2).tolist() == [[2, 3], [0, 0], [4, 5], [6, 7]]
    assert padded(TOKENS, ENDS, 4).tolist() == [
        [0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 4, 5], [0, 0, 6, 7],
    ]  # fmt: skip
    behind = padded(TOKENS, ENDS, 4, zeros="behind")
    assert behind.tolist() == [[1, 2, 3, 0], [0, 0, 0, 0], [4, 5, 0, 0], [6, 7, 0, 0]]


def test_parts_of_many_texts_are_joined_text_by_text(monkeypatch):
    monkeypatch.setattr("epochcost.data.sequences.ROWS", 3)
    tokens, ends = joined((TOKENS, ENDS), (np.array([70_000, 8], np.int32), np.array([1, 1, 1, 2])))
    assert tokens.tolist() == [1, 2, 3, 70_000, 4, 5, 6, 7, 8]
    assert ends.tolist() == [4, 4, 6, 9]
    assert padded(tokens, ends, 2).tolist() == [[3, 70_000], [0, 0], [4, 5], [7, 8]]
