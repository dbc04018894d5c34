import pytest

from warex_testbed.sites.forum.markup import html, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\ntwo\n\nthree", "<p>one<br>two</p>\n<p>three</p>"),
        ("- a\n- **b**", "<ul><li>a</li><li><strong>b</strong></li></ul>"),
        ("> said", "<blockquote><p>said</p></blockquote>"),
        ("use `a*b` here", "<p>use <code>a*b</code> here</p>"),
        ("```\nx  <y>\n\nz\n```", "<pre><code>x  &lt;y&gt;\n\nz</code></pre>"),
        ("", ""),
    ],
)
def test_the_marks_become_html(text: str, shown: str) -> None:
    assert html(text) == shown


def test_what_a_person_types_stays_text() -> None:
    assert "<script" not in html("<script>x</script> **<b>** `<i>` - <u>\n\n> <img>")
    assert html("{0} {x}") == "<p>{0} {x}</p>"


def test_a_teaser_is_one_short_line_without_marks_or_code() -> None:
    assert plain("**a** `b`\n\n```\ncode\n```\n- c") == "a b c"
    assert plain("word " * 50, 20) == "word word word word…"
