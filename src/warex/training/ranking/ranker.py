"""A small model that ranks a page's legal actions: trained in seconds, without a language model.

It is a linear model of pairs: the wanted action of a page outranks each other one. Training needs
scikit-learn; answering needs only what WAREX has.

::

    DIR/ranker.json   the templates of its answers, and what it was trained on
    DIR/weights.npz   a weight for each bucket of features
"""

import io
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from zlib import crc32

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from warex.errors import InputError
from warex.exports.chat import message_texts
from warex.exports.dataset import Dataset, require_empty_folder
from warex.exports.prompt_page import read_prompt
from warex.exports.rows import ChatMessage
from warex.extras import require_extra
from warex.files.reading import path_exists, read_regular_file
from warex.text.english import first_validation_error
from warex.traces.files import write_atomic
from warex.training.ranking.candidates import (
    ActionTemplate,
    candidates,
    forms,
    wanted_action,
)
from warex.training.ranking.features import features

type _Floats = np.ndarray[Any, np.dtype[np.float32]]
type _Example = tuple[list[list[int]], int]
"""The features of a page's actions, and which of them is wanted."""

FACTS: Final = "ranker.json"
WEIGHTS: Final = "weights.npz"
_NOTHING: Final = ""
"""The answer to a page without a legal action."""


class RankerOptions(BaseModel, frozen=True, extra="forbid"):
    """Hyperparameters of a ranker."""

    buckets: Annotated[int, Field(ge=64, le=2**20)] = 2**14
    """Into which features are hashed."""
    strength: Annotated[float, Field(gt=0)] = 0.3
    """The inverse of the regularisation."""


_DEFAULTS: Final = RankerOptions()


class RankerFacts(BaseModel, frozen=True, extra="forbid"):
    """What a ranker's folder says of it."""

    schema_version: Literal[2] = 2
    options: RankerOptions
    templates: tuple[ActionTemplate, ...]
    prompts: Mapping[str, str] = {}
    """The vocabulary of each system prompt, by its CRC-32."""
    data: str = ""
    """SHA-256 of the rows that it was trained on."""
    rows: int = 0
    left_out: int = 0
    """Rows whose wanted answer is not a legal action of their page."""


@dataclass(frozen=True, slots=True)
class Ranker:
    """A trained ranker."""

    facts: RankerFacts
    weights: _Floats

    def answer(self, prompt: Sequence[ChatMessage]) -> str:
        """Return the best of a prompt's legal actions, as text."""
        page = read_prompt(prompt)
        some = candidates(page, templates_for(prompt, self.facts.templates, self.facts.prompts))
        if not some:
            return _NOTHING
        buckets = self.facts.options.buckets
        scores = [float(self.weights[indexes].sum()) for indexes in features(page, some, buckets)]
        return some[int(np.argmax(scores))].text

    def save(self, folder: Path) -> None:
        """Write the ranker into a folder."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, weights=self.weights)
        write_atomic(folder / WEIGHTS, buffer.getvalue())
        text = self.facts.model_dump_json(indent=2) + "\n"
        write_atomic(folder / FACTS, text.encode("utf-8", "replace"))


def templates_for(
    prompt: Sequence[ChatMessage], templates: Sequence[ActionTemplate], known: Mapping[str, str]
) -> list[ActionTemplate]:
    """Return the templates of the prompt's agent; of an unknown one, those used most.

    ``known`` has the vocabulary of each system prompt, by its ``system_key``.
    """
    usual = Counter(it.vocabulary for it in templates).most_common(1)
    vocabulary = known.get(system_key(prompt), usual[0][0] if usual else "")
    return [it for it in templates if it.vocabulary == vocabulary]


def is_ranker(folder: str) -> bool:
    """Whether a model's name is the folder of a ranker."""
    return path_exists(Path(folder) / FACTS)


def load_ranker(folder: Path) -> Ranker:
    """Read a ranker. Raises InputError if its files are missing, damaged or do not fit together."""
    try:
        facts = RankerFacts.model_validate_json(read_regular_file(folder / FACTS))
        with np.load(io.BytesIO(read_regular_file(folder / WEIGHTS)), allow_pickle=False) as arrays:
            ranker = Ranker(facts, np.asarray(arrays["weights"], np.float32))
    except OSError as error:
        raise InputError(f"{folder} holds no whole ranker: {error.strerror or error}") from None
    except ValidationError as error:
        why = first_validation_error(error)
        raise InputError(f"{folder / FACTS}: {why}; train the ranker again") from None
    except (ValueError, LookupError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{folder / WEIGHTS} is damaged: {error}") from None
    if ranker.weights.shape != (facts.options.buckets,):
        raise InputError(f"{folder / WEIGHTS} does not fit {FACTS}: train the ranker again")
    return ranker


def train_ranker(dataset: Dataset, out: Path, options: RankerOptions = _DEFAULTS) -> Ranker:
    """Train a ranker on a data set's training rows and write it into a folder.

    Raises InputError if there are no usable rows or the folder is not empty, MachineError if
    scikit-learn is missing.
    """
    require_extra("ranker", "--ranker", "sklearn")
    require_empty_folder(out, "the ranker")
    rows = dataset.rows("train")
    if not rows:
        raise InputError(
            f"{dataset.folder} has no row in train: there is nothing to train on; export it with"
            " --split none, so that all rows are for training"
        )
    pages = [read_prompt(row.prompt) for row in rows]
    wanted = [
        wanted_action(row, page, dataset.vocabulary(row))
        for row, page in zip(rows, pages, strict=True)
    ]
    templates = forms([action[0] for action in wanted if action is not None])
    examples: list[_Example] = []
    for page, action in zip(pages, wanted, strict=True):
        if action is not None:
            template, text = action
            used = [it for it in templates if it.vocabulary == template.vocabulary]
            some = candidates(page, used)
            texts = [it.text for it in some]
            if text in texts and len(texts) > 1:
                columns = features(page, some, options.buckets)
                examples.append((columns, texts.index(text)))
    if not examples:
        raise InputError(
            f"{dataset.folder}: no wanted answer of train is an action on an element of its page,"
            " so that there is nothing to rank"
        )
    facts = RankerFacts(
        options=options,
        templates=templates,
        prompts={system_key(row.prompt): row.vocabulary for row in rows},
        data=dataset.manifest.splits["train"].sha256 if dataset.manifest.splits else "",
        rows=len(examples),
        left_out=len(rows) - len(examples),
    )
    ranker = Ranker(facts, _fit(examples, options))
    ranker.save(out)
    return ranker


def _fit(examples: Sequence[_Example], options: RankerOptions) -> _Floats:
    """Return the weights by which the wanted action of each page outranks its others."""
    from scipy.sparse import csr_array, vstack
    from sklearn.linear_model import LogisticRegression

    differences: list[Any] = []
    shares: list[float] = []
    for some, at in examples:
        ends = np.cumsum([0, *map(len, some)])
        columns = np.concatenate([np.asarray(indexes, np.int64) for indexes in some])
        shape = (len(some), options.buckets)
        actions = csr_array((np.ones(len(columns), np.float32), columns, ends), shape=shape)
        others = [place for place in range(len(some)) if place != at]
        repeated = csr_array(np.ones((len(others), 1), np.float32)) @ actions[[at], :]
        differences.append(repeated - actions[others, :])
        # A page with many actions counts more, but not in proportion.
        shares += [len(others) ** -0.5] * len(others)
    signs = np.where(np.arange(len(shares)) % 2, -1, 1)
    matrix = csr_array(vstack(differences).multiply(signs[:, None]))
    model = LogisticRegression(C=options.strength, fit_intercept=False, max_iter=1000)
    model.fit(matrix, signs, sample_weight=shares)
    return np.asarray(model.coef_[0], np.float32)


def system_key(prompt: Sequence[ChatMessage]) -> str:
    """Return the CRC-32 of a prompt's system message."""
    text = "\n".join(message_texts([it for it in prompt if it.get("role") == "system"]))
    return f"{crc32(text.encode('utf-8', 'replace')):08x}"
