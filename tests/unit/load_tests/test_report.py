"""The report is one file that loads nothing, and shows the course."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from load_tests.course import Course
from load_tests.plot import nice, plot
from load_tests.report import page
from load_tests.summary import summary
from tests.unit.load_tests.course import course

LOCUST = "<html><body class='x' id=\"y\"><script>1 && 2</script></body></html>"


class Frames(HTMLParser):
    """Collects the documents inside frames."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "iframe" and name == "srcdoc"]


def report(of: Course) -> str:
    return page(of, summary(of, Path("report.html")), LOCUST)


def test_the_report_loads_nothing_and_holds_locusts_page_unharmed() -> None:
    text = report(course())
    assert re.findall(r"(?:src|href)=", text) == []
    frames = Frames()
    frames.feed(text)
    assert frames.found == [LOCUST]


def test_the_report_says_whether_the_test_passed_and_quotes_errors_harmlessly() -> None:
    assert "Passed" in report(course())
    assert "HTTP 500: &lt;b&gt;oh" in report(course(errors=[1]))


def test_the_plot_shows_every_answer_and_the_steps_of_the_workers() -> None:
    drawn = ElementTree.fromstring(plot(course(errors=[1])))
    names = [element.tag.rpartition("}")[2] for element in drawn.iter()]
    assert names.count("circle") == 10
    assert names.count("polyline") == 2


def test_a_course_without_answers_can_be_drawn() -> None:
    assert plot(course(lost=range(10), workers=[])).startswith("<svg")


def test_axes_end_at_round_numbers() -> None:
    assert [nice(value) for value in (0, 0.3, 1, 1.1, 3, 7, 60)] == [1, 0.5, 1, 2, 5, 10, 100]
