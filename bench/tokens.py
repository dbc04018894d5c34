"""Compare the estimate of tokens with real tokenizers, on texts as agents send them to models.

    pip install tiktoken tokenizers litellm        (in an environment of its own, or this one)
    python -m bench.tokens

LiteLLM's package contains the vocabularies, so nothing is downloaded. A number is the estimate
divided by a tokenizer's count: 1.10 is 10 % too many.
"""

import json
import os
from collections.abc import Callable, Iterator, Sized
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from warex.llm.content.token_estimate import estimate_text

ROOT = Path(__file__).parents[1]
SITES = ROOT / "testbed/src/warex_testbed/sites"


def texts() -> Iterator[tuple[str, str]]:
    """Yield texts, each with the name of its kind."""
    english = _joined([ROOT / "docs/how-to/exec.md", ROOT / "docs/glossary.md"])
    yield "English", english
    yield "HTML", _joined(sorted((SITES / "mail/templates").glob("*.html")))
    yield "accessibility tree", "\n".join(_tree(english.split()))
    yield "JSON", (ROOT / "docs/reference/campaign.schema.json").read_text()
    yield "JavaScript", _joined(sorted(SITES.rglob("*.js")))
    yield "Python", _joined(sorted((ROOT / "src/warex/llm").rglob("*.py")))
    yield from json.loads((ROOT / "bench/other_scripts.json").read_text()).items()


def _joined(paths: list[Path]) -> str:
    return "\n".join(path.read_text() for path in paths)


def _tree(words: list[str]) -> Iterator[str]:
    """Yield lines in the reference agent's format of a page."""
    roles = ("link", "button", "StaticText", "textbox", "listitem", "heading")
    for number in range(300):
        name = " ".join(words[3 * number : 3 * number + 4])
        yield f"{'  ' * (number % 5)}[{7 * number}] {roles[number % 6]} '{name}'"


def tokenizers() -> dict[str, Callable[[str], int]]:
    """Return token counters by the name of their tokenizer."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        raise SystemExit("pip install tiktoken tokenizers litellm")
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    tiktoken, hugging = import_module("tiktoken"), import_module("tokenizers")
    counters: dict[str, Callable[[str], int]] = {}
    for name in ("o200k_base", "cl100k_base"):
        counters[name] = _counter(tiktoken.get_encoding(name).encode_ordinary)
    for name, file in (("deepseek", "deepseek"), ("claude-2", "anthropic")):
        path = folder / f"{file}_tokenizer.json"
        counters[name] = _counter(hugging.Tokenizer.from_file(str(path)).encode)
    return counters


def _counter(encode: Callable[[str], Sized]) -> Callable[[str], int]:
    return lambda text: len(encode(text))


def main() -> None:
    """Print the table."""
    counters = tokenizers()
    print(f"{'':18} {'bytes':>7}", *(f"{name:>12}" for name in counters))
    for kind, text in texts():
        estimate = estimate_text(text)
        ratios = (f"{estimate / count(text):12.2f}" for count in counters.values())
        print(f"{kind:18} {len(text.encode()):7}", *ratios)


if __name__ == "__main__":
    main()
