from pathlib import Path
from typing import Any

import pytest

from warex_testbed.sites import HOSTS, Sites
from warex_testbed.tasks import FILES, AnswerCheck, Task, load_tasks, read_tasks, require_distinct

TASKS = load_tasks()
DOCS = Path(__file__).parents[2] / "docs/reference/testbed.md"


def named(name: str) -> Task:
    return next(task for task in TASKS if task.name == name)


def fresh() -> dict[str, Any]:
    return Sites().state()


def test_there_are_sixty_tasks_of_one_to_twelve_steps_on_every_site() -> None:
    assert len(TASKS) >= 60
    assert {task.host for task in TASKS} == set(HOSTS)
    assert {1, 12} <= {len(task.oracle) for task in TASKS}
    assert all(1 <= len(task.oracle) <= 12 for task in TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_an_untouched_site_without_an_answer_scores_nothing(task: Task) -> None:
    verdict = task.judge(fresh(), None)
    assert verdict.score == 0.0
    assert verdict.reasons


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_task_is_on_a_site_there_is(task: Task) -> None:
    assert task.host in HOSTS


def test_the_docs_lead_to_every_file_of_tasks() -> None:
    docs = DOCS.read_text("utf-8")
    assert all(f"/sites/{file.parent.name}/{file.name})" in docs for file in FILES)


def test_the_answer_is_compared_in_any_case_and_as_whole_words() -> None:
    task = named("calendar-twelve-hour-clock")
    state = fresh()
    state[task.host]["settings"]["time_format"] = "12"
    assert task.judge(state, "At 2:30 pm.").score == 1.0
    assert task.judge(state, "At 12:30 pm.").score == 0.0


@pytest.mark.parametrize("answer", ["€ 5,800.", "5800 euros", "5,800.00"])
def test_a_number_is_compared_by_its_value(answer: str) -> None:
    assert AnswerCheck(contains=("5,800",)).complaints(answer) == []


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("5,800", "15,800"),
        ("5,800", "5,800.50"),
        ("5,800", "5.800"),
        ("350", "1,350"),
        ("12", "at 12:30"),
        ("12", "at 12:30pm"),
        ("12", "at 9:12"),
        ("4", "4.5"),
        ("4", "14"),
    ],
)
def test_a_part_of_a_number_is_not_the_number(number: str, answer: str) -> None:
    assert AnswerCheck(contains=(number,)).complaints(answer)


def test_the_order_of_a_list_does_not_matter_but_what_is_in_it_does() -> None:
    task = named("calendar-invite-maya")
    state = fresh()
    event = next(each for each in state[task.host]["events"] if each["title"] == "Release review")
    event["guests"] = ["maya@warex.test", "tom@warex.test"]
    assert task.judge(state, None).score == 1.0
    event["guests"].append("eve@warex.test")
    assert task.judge(state, None).score == 0.0


def test_a_tag_made_beside_the_old_one_is_not_a_renaming() -> None:
    task = named("mail-rename-tag")
    state = fresh()
    letter = next(each for each in state[task.host]["messages"] if each["labels"] == ["Reading"])
    letter["labels"] = ["Library"]
    state[task.host]["labels"].append("Library")
    assert task.judge(state, None).score == 0.0
    state[task.host]["labels"].remove("Reading")
    assert task.judge(state, None).score == 1.0


ANSWERED = {task.name: task.check.answer for task in TASKS if task.check.answer is not None}


def right_words(check: AnswerCheck) -> str:
    return " and ".join(each if isinstance(each, str) else each[0] for each in check.contains)


def test_expected_answers_are_in_the_oracles_answer_not_in_the_goal() -> None:
    for name, check in ANSWERED.items():
        assert check.complaints(named(name).goal), name
        assert check.complaints(named(name).oracle[-1].text) == [], name


@pytest.mark.parametrize(
    "answer",
    [
        "{right}",
        "The answer is: {right}.",
        "**{right}**",
        "I was asked: {goal} I opened the page and read it there: {right}.",
    ],
)
def test_an_answer_may_be_short_or_in_a_sentence(answer: str) -> None:
    for name, check in ANSWERED.items():
        assert (
            check.complaints(answer.format(right=right_words(check), goal=named(name).goal)) == []
        )


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "calendar-last-on-16-june",
            "I opened Tuesday 16 June. The last event of that day, at 19:45, is the Photo walk.",
        ),
        (
            "calendar-flight-reference",
            "The flight to Lisbon leaves on 23 June at 08:40 from Terminal 2. "
            "Booking reference QX7K4M, seat 14A.",
        ),
        (
            "calendar-photo-call",
            "The photo call on Friday, June 12 is from 5:00 PM to 6:30 PM. It begins at 5:00 PM.",
        ),
        ("calendar-gate-code", "Gate code 2580; mind the geese."),
        (
            "mail-unread-from-jonas",
            "There are 2 unread conversations in the inbox and 1 in the archive 'Quay 7'. "
            "Altogether that is 3 of the 4 from Jonas Weber.",
        ),
        (
            "mail-april-balance",
            "The first search failed with an error 503, so I tried 3 times. On 30 April the "
            "account of the hiking club held € 1,912.40.",
        ),
        (
            "shop-cheapest-sonora",
            "Of the 4 Sonora products in Audio the cheapest is Aria Lite headphones, at €89.00.",
        ),
        (
            "shop-voucher-laptop",
            "The Campus 13 laptop costs €599.00. VOLT10 takes off €59.90, delivery is free, and "
            "the total is then €539.10. I did not go to the checkout.",
        ),
        (
            "shop-order-mouse",
            "Order placed: one Pebble M1 mouse, standard delivery to Alex Moreau, Lindenweg 12, "
            "10115 Berlin, invoice, total €43.95. Order number: **VL-10483**",
        ),
        ("shop-honey-left", "It said 'Last 4' only after three attempts: 4 jars are left."),
        (
            "shop-lighter-trousers",
            "The Scree trousers weigh 340 g and the Gill rain trousers 298 g: the Gill ones do.",
        ),
        (
            "forum-unanswered-routes",
            "2 of the 5 topics: 'Eurovelo 1 in reverse: madness?' and 'Night train with a bicycle: "
            "Lisbon to Madrid?' have 0 replies.",
        ),
        ("forum-dns-fix", "dht22 wrote it, and yara, who had asked, confirmed that it works."),
        (
            "forum-sauerkraut-salt",
            "20 g of salt for each kilogram. Below 15 g it turns soft, above 25 g it is slow.",
        ),
    ],
)
def test_an_explanation_may_name_what_led_to_the_answer(name: str, answer: str) -> None:
    assert ANSWERED[name].complaints(answer) == []


@pytest.mark.parametrize(
    "answer", ["{right} or {wrong}", "{wrong}, {right}", "Not {wrong}: {right}."]
)
def test_a_wrong_candidate_beside_the_right_one_is_not_an_answer(answer: str) -> None:
    for name, check in ANSWERED.items():
        assert check.lacks, name
        for wrong in check.lacks:
            complaint = f"the answer says {wrong!r}, which is not asked for"
            complaints = check.complaints(answer.format(right=right_words(check), wrong=wrong))
            assert complaint in complaints, name
            assert complaint not in check.complaints(named(name).goal), name


def test_counting_up_until_one_is_right_is_not_an_answer() -> None:
    up_to_thirty = " ".join(map(str, range(1, 31)))
    for name in ("mail-unread-from-jonas", "shop-honey-left", "forum-unanswered-routes"):
        assert ANSWERED[name].complaints(up_to_thirty), name


def test_a_wrong_number_is_compared_by_its_value_too() -> None:
    check = AnswerCheck(contains=("5,800",), lacks=("1,240",))
    assert check.complaints("5800 and 1240.00") == [
        "the answer says '1,240', which is not asked for"
    ]
    assert check.complaints("5800, and not 1,240.50") == []


def test_state_and_answer_must_both_hold() -> None:
    task = named("calendar-twelve-hour-clock")
    assert task.judge(fresh(), "2:30 PM").reasons == (
        "settings.time_format is '24' and should be '12'",
    )


def test_a_thing_done_twice_is_not_the_thing_done() -> None:
    task = named("calendar-create-dentist")
    state = fresh()
    dentist = {"title": "Dentist", "date": "2026-06-12", "start": "09:30", "end": "10:15"}
    state[task.host]["events"].append(dentist)
    assert task.judge(state, None).score == 1.0
    state[task.host]["events"].append(dentist)
    assert task.judge(state, None).score == 0.0


def test_deleting_everything_does_not_pass_for_deleting_one_event() -> None:
    task = named("calendar-delete-gym")
    state = fresh()
    state[task.host]["events"].clear()
    assert task.judge(state, None).score == 0.0


def test_a_state_of_something_else_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="/state"):
        named("calendar-delete-gym").judge({"shop.example": {}}, None)


TASK = """
[[task]]
name = "calendar-x"
site = "calendar"
host = "calendar.warex.test"
start = "/"
goal = "Do x."
check = {answer = {contains = ["x"]}}
[[task.oracle]]
page = "month"
action = "answer"
role = "link"
name = "x"
text = "x"
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not toml", "file.toml is not a task file"),
        (TASK.replace("calendar-x", "shop-x"), "must start with the site"),
        (TASK.replace('{answer = {contains = ["x"]}}', "{}"), "needs state, answer or both"),
        (
            TASK.replace('["x"]', '["Room x"], lacks = ["X"]'),
            "lacks 'X' is part of 'Room x' of contains",
        ),
        (TASK.replace('text = "x"', ""), "only a click goes without text"),
        (TASK.replace('"answer"\n', '"dance"\n'), "action"),
        (
            TASK.replace('{answer = {contains = ["x"]}}', '{state = [{path = "a"}]}'),
            "count or equals",
        ),
    ],
)
def test_a_wrong_task_file_is_refused_in_words(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_tasks(text, "file.toml")


@pytest.mark.parametrize("key", ["name", "goal"])
def test_two_files_may_not_have_the_same_task(key: str) -> None:
    other = TASK.replace("calendar-x" if key == "goal" else "Do x.", "calendar-y")
    tasks = (*read_tasks(TASK, "one.toml"), *read_tasks(other, "other.toml"))
    with pytest.raises(ValueError, match=f"the testbed's tasks: two .* same {key}: "):
        require_distinct(tasks, "the testbed's tasks")


def test_a_right_task_file_is_read() -> None:
    assert read_tasks(TASK, "file.toml")[0].goal == "Do x."


def test_an_oracle_without_an_answer_is_refused() -> None:
    text = TASK.replace('"answer"\n', '"fill"\n')
    with pytest.raises(ValueError, match="must end with its only answer"):
        read_tasks(text, "file.toml")
