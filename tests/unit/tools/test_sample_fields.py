"""Rows as data sets write them, and each fault named with its row."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from seer_core.errors import ConfigError
from seer_core.tools.evaluate import Sample
from seer_core.tools.row_file import Row
from seer_core.tools.sample_fields import BY_LETTER, Form, sample_of

PNG = b"\x89PNG picture"
GOOD = {"image": PNG, "question": "What?", "answers": ["this", "that"]}


def read(values: dict[str, Any], form: Form | None = None, *, loose: bool = False, folder: Path = Path()) -> Sample:
    row = Row(file=folder / "questions.jsonl", number=2, values=values, loose=loose)
    return sample_of(row, form if form is not None else Form())


def test_a_row_becomes_a_sample() -> None:
    sample = read({**GOOD, "id": 7, "metric": "anls", "kind": "form"})
    assert (sample.image, sample.prompt, sample.answers) == (PNG, "What?", ("this", "that"))
    assert (sample.id, sample.metric, sample.kind, sample.choices) == ("7", "anls", "form", ())


def test_one_answer_no_answer_and_numbers_are_read_and_what_is_missing_has_a_default() -> None:
    assert read({"image": PNG, "prompt": "What?", "answer": "this"}).answers == ("this",)
    assert read({"image": PNG, "question": "How many?", "answer": 3}).answers == ("3",)
    sample = read({"image": PNG, "question": "What?"})
    assert (sample.answers, sample.metric) == ((), "exact")
    assert (sample.id, sample.kind) == ("questions.jsonl:2", "questions")


def test_an_image_is_bytes_a_record_a_path_a_data_url_or_base64(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    coded = base64.b64encode(PNG).decode()
    forms: list[Any] = [PNG, {"bytes": PNG, "path": "x"}, {"bytes": None, "path": "a.png"}, "a.png", coded]
    forms += [f"data:image/png;base64,{coded}", coded[:8] + "\n" + coded[8:]]
    assert {read({**GOOD, "image": form}, folder=tmp_path).image for form in forms} == {PNG}


def test_choices_are_asked_for_by_letter() -> None:
    sample = read({**GOOD, "choices": ["a cat", "a dog"], "answers": "B"})
    assert sample.prompt == f"What?\nA. a cat\nB. a dog\n{BY_LETTER}"
    assert (sample.metric, sample.answers, sample.choices) == ("choice", ("B",), ("a cat", "a dog"))


def test_choices_may_be_written_down_as_text_and_the_answer_as_a_place() -> None:
    sample = read({"image": PNG, "question": "What?", "options": "['a cat', 'a dog']", "answer": 1})
    assert (sample.choices, sample.answers) == (("a cat", "a dog"), ("B",))


def test_columns_go_by_other_names_and_several_make_one_field() -> None:
    form = Form(columns={"question": ["hint", "query"], "choices": ["A", "B", "C"], "answers": ["label"]})
    values = {"image": PNG, "hint": "Look.", "query": "What?", "A": "x", "B": "y", "C": None, "label": "y", "split": 1}
    sample = read(values, form, loose=True)
    assert sample.prompt.startswith("Look.\nWhat?\nA. x\nB. y\n")
    assert (sample.choices, sample.answers) == (("x", "y"), ("y",))


def test_the_instruction_goes_below_every_question_and_a_metric_is_for_rows_that_name_none() -> None:
    form = Form(instruction="One word.", metric="anls")
    assert read(GOOD, form).prompt == "What?\nOne word."
    assert read({**GOOD, "choices": ["this", "that"]}, form).prompt.endswith("B. that\nOne word.")
    assert (read(GOOD, form).metric, read({**GOOD, "metric": "relaxed"}, form).metric) == ("anls", "relaxed")
    assert read({**GOOD, "choices": ["this", "that"]}, Form(instruction="")).prompt.endswith("B. that")


def test_unknown_columns_are_left_alone_in_a_data_set_and_refused_in_a_file_of_ones_own() -> None:
    assert read({**GOOD, "imge": 1}, loose=True).prompt == "What?"
    with pytest.raises(ConfigError, match=r"line 2: unknown field 'imge'; did you mean 'image'"):
        read({**GOOD, "imge": 1})


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"image": PNG}, "line 2: question is missing"),
        ({"question": "What?"}, "image is missing"),
        ({**GOOD, "image": "b.png"}, "b.png cannot be read"),
        ({**GOOD, "image": "no base64!"}, "neither a file there nor base64"),
        ({**GOOD, "image": 3}, "image must be a path or bytes"),
        ({**GOOD, "answers": [{"text": "this"}]}, "answers must be a text"),
        ({**GOOD, "metric": "anlz"}, "line 2: unknown metric 'anlz'.*did you mean 'anls'"),
        ({**GOOD, "metric": "choice"}, "choice needs choices"),
        ({**GOOD, "choices": ["x", "y"]}, "'this' is none of the choices"),
        ({**GOOD, "choices": ["x", "y"], "answers": 2}, "'2' is none of the choices"),
        ({**GOOD, "choices": ["x"] * 27}, "27 choices"),
    ],
)
def test_a_fault_is_named_with_its_row(values: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        read(values)


def test_a_form_with_names_that_do_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'question'"):
        Form(columns={"questin": ["x"]})
    with pytest.raises(ConfigError, match="unknown metric"):
        Form(metric="best")
    with pytest.raises(ConfigError, match="there is no column 'query' for question"):
        read(GOOD, Form(columns={"question": ["query"]}), loose=True)
