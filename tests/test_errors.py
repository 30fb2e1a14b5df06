import pytest

from epochcost import errors


def test_the_nearest_name_is_offered():
    assert errors.nearest("mnist_mpl", ["mnist_mlp", "imdb"]).startswith(
        "did you mean 'mnist_mlp'?"
    )


def test_without_a_near_name_all_are_listed_unless_they_are_many():
    assert errors.nearest("zzz", ["b", "a"]) == "known: a, b"
    assert errors.nearest("zzz", [f"n{n:02}" for n in range(50)]) == (
        "50 are known, from n00 to n49"
    )


@pytest.mark.parametrize(
    "error",
    [errors.InputError("a\nb"), OSError(28, "No space left on device", "/x/y"), MemoryError()],
)
def test_errors_end_a_script_with_one_line_and_status_1(error):
    def main():
        raise error

    with pytest.raises(SystemExit) as ended:
        errors.run(main)
    assert ended.value.code.startswith("epochcost: ")
    assert "\n" not in ended.value.code


def test_a_full_disk_names_the_file():
    assert errors.one_line(OSError(28, "No space left on device", "/x/y")) == (
        "/x/y: No space left on device"
    )


def test_a_message_is_of_a_length_that_is_read_and_obeyed_by_no_terminal():
    said = errors.one_line(
        errors.InputError("unknown '" + "x" * 5000 + "\x1b[31m\u202e'; known: a")
    )
    assert len(said) <= errors.LONGEST_LINE
    assert said.startswith("unknown 'xxx") and said.endswith("x?[31m?'; known: a")
    assert errors.one_line(OSError(36, "File name too long", "y" * 5000)).endswith(
        "y: File name too long"
    )
    assert errors.one_line(errors.InputError("half \ud800")) == "half ?"
