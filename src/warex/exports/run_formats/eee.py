"""Every Eval Ever 0.3.0: aggregate results, and a line for each scored trial.

An agent under a condition is an evaluation; its results are the share of solved trials and the
share of recovered ones. Source: the schemas of the package ``every-eval-ever``.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from warex.analysis.trial.usage import LlmUsage
from warex.clock import Clock
from warex.errors import InputError
from warex.exports.interchange.samples import (
    Evaluation,
    Sample,
    conversation,
    evaluations,
    metadata,
    read_sample,
)
from warex.exports.interchange.strict_json import encode_strictly, sanitize
from warex.exports.rows import ChatMessage
from warex.exports.run_formats import RunExport, left_out
from warex.text.english import count_noun
from warex.traces.files import write_atomic
from warex.traces.outcome import Counted
from warex.version import VERSION

type Json = dict[str, Any]

_SCHEMA: Final = "0.3.0"
_METRICS: Final = {
    "solved": "Score of a trial by the benchmark's own check.",
    "recovered": "Whether the agent recovered from each fault that it felt.",
}
_NOT_PORTABLE: Final = re.compile(r'[<>:"\\|?*/\x00-\x1f]')


def write(export: RunExport) -> Iterable[str]:
    """Write the evaluations."""
    selection = export.select()
    export.require_new_folder()
    unscored = written = void = 0
    made_at = Clock().wall()
    for evaluation in evaluations(selection.trials):
        samples = [read_sample(trial) for trial in evaluation.trials]
        scored = [each for each in samples if isinstance(each.record.outcome, Counted)]
        void += sum(each.record.void for each in samples)
        unscored += len(samples) - len(scored)
        written += len(scored)
        if scored:
            write_evaluation(evaluation, scored, export.out, made_at)
    if not written:
        raise InputError(f"no trial has a score: {count_noun(unscored, 'trial')} left out")
    if unscored:
        yield f"left out   {unscored:,}: without a score, {void:,} of them void"
    yield from left_out(selection)
    yield f"{export.format:10} {count_noun(written, 'trial')}: {export.out}"


def write_evaluation(
    evaluation: Evaluation, scored: Sequence[Sample], out: Path, made_at: float
) -> None:
    """Write the aggregate and the samples below ``out``; ``made_at``: seconds since 1970."""
    model = _model(evaluation, scored)
    place = f"data/{_portable(evaluation.benchmark or 'warex')}/{model['id']}/{_name(evaluation)}"
    identity = "/".join(
        (
            evaluation.benchmark,
            evaluation.agent,
            evaluation.condition,
            model["id"],
            f"{made_at:.0f}",
        )
    )
    common = {"schema_version": _SCHEMA, "evaluation_id": identity}
    rows = [
        encode_strictly(sanitize(common | {"model_id": model["id"]} | row)) + b"\n"
        for sample in scored
        for row in _rows(evaluation, sample)
    ]
    samples = b"".join(rows)
    aggregate = common | {
        "evaluation_timestamp": min((e.at for s in scored for e in s.trace.entries), default=""),
        "retrieved_timestamp": f"{made_at:.0f}",
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "warex", "version": VERSION},
        "model_info": model,
        "evaluation_results": list(_results(evaluation, scored)),
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{place}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples).hexdigest(),
            "total_rows": len(rows),
        },
    }
    write_atomic(out / f"{place}_samples.jsonl", samples)
    write_atomic(out / f"{place}.json", encode_strictly(sanitize(aggregate), indent=1))


def _model(evaluation: Evaluation, samples: Sequence[Sample]) -> Json:
    """Return the model that answered most calls; its developer, if unknown, is the API's name."""
    calls = Counter((call.family, call.model) for sample in samples for call in sample.calls)
    family, name = calls.most_common(1)[0][0] if calls else ("unrecorded", evaluation.agent)
    developer, slash, rest = name.partition("/")
    if not slash:
        developer, rest = family, name
    return {
        "name": name,
        "id": f"{_portable(developer)}/{_portable(rest)}",
        "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
    }


def _portable(name: str) -> str:
    """Return a name that every file system has room for."""
    return _NOT_PORTABLE.sub("_", name).rstrip(". ")[:100] or "_"


def _name(evaluation: Evaluation) -> UUID:
    """Return a name of version 4, the only one that is allowed; equal for equal trials."""
    trials = "|".join(str(trial.path.absolute()) for trial in evaluation.trials)
    return UUID(bytes=uuid5(NAMESPACE_URL, trials).bytes, version=4)


def _scores(sample: Sample) -> dict[str, float]:
    outcome, recovered = sample.record.outcome, sample.record.recovered
    assert isinstance(outcome, Counted)
    scores = {"solved": outcome.score}
    return scores if recovered is None else scores | {"recovered": float(recovered)}


def _evaluation_name(evaluation: Evaluation, metric: str) -> str:
    return f"{evaluation.benchmark or 'warex'}, {evaluation.condition}, {metric}"


def _results(evaluation: Evaluation, samples: Sequence[Sample]) -> Iterator[Json]:
    for metric, description in _METRICS.items():
        values = [scores[metric] for scores in map(_scores, samples) if metric in scores]
        if not values:
            continue
        yield {
            "evaluation_result_id": metric,
            "evaluation_name": _evaluation_name(evaluation, metric),
            "source_data": {
                "dataset_name": evaluation.benchmark or "warex",
                "source_type": "other",
            },
            "metric_config": {
                "evaluation_description": description,
                "metric_id": f"warex.{metric}",
                "metric_name": metric,
                "metric_unit": "proportion",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0.0,
                "max_score": 1.0,
            },
            "score_details": {
                "score": sum(values) / len(values),
                "details": {"agent": evaluation.agent, "condition": evaluation.condition},
                "uncertainty": {"num_samples": len(values)},
            },
        }


def _rows(evaluation: Evaluation, sample: Sample) -> Iterator[Json]:
    record, key = sample.record, sample.trial.key
    messages = [_message(turn, each) for turn, each in enumerate(conversation(sample.calls))]
    prompt = next((it["content"] for it in messages if it["role"] == "user"), None) or key.task
    usage = record.llm or LlmUsage(())
    of_sample: Json = {
        "sample_id": f"{key.task}/{key.repeat}",
        "sample_hash": hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest(),
        "interaction_type": "agentic",
        "input": {"raw": prompt, "reference": []},
        "output": None,
        "messages": messages,
        "answer_attribution": _attribution(sample, len(messages)),
        "token_usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
        "performance": {"latency_ms": 1000 * (record.latency_s or 0.0)},
        "metadata": {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in metadata(record).items()
        },
    }
    for metric, score in _scores(sample).items():
        yield of_sample | {
            "evaluation_name": _evaluation_name(evaluation, metric),
            "evaluation_result_id": metric,
            "evaluation": {
                "score": score,
                "is_correct": bool(record.solved) if metric == "solved" else score == 1.0,
                "num_turns": max(1, len(sample.calls)),
                "tool_calls_count": sum(len(each["tool_calls"]) for each in messages),
            },
        }


def _attribution(sample: Sample, turns: int) -> list[Json]:
    if sample.answer is None:
        return []
    return [
        {
            "turn_idx": max(0, turns - 1),
            "source": "the answer that the benchmark recorded",
            "extracted_value": sample.answer,
            "extraction_method": "custom",
            "is_terminal": True,
        }
    ]


def _message(turn: int, message: ChatMessage) -> Json:
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(_text(part) for part in content)
    return {
        "turn_idx": turn,
        "role": message["role"],
        "content": content,
        "tool_calls": [
            {
                "id": str(call.get("id", "")),
                "name": call["function"]["name"],
                "arguments": _arguments(call["function"].get("arguments")),
            }
            for call in message.get("tool_calls") or ()
        ],
    }


def _text(part: Json) -> str:
    return str(part["text"]) if part.get("type") == "text" else f"[image {part.get('blob', '')}]"


def _arguments(arguments: object) -> dict[str, str]:
    values = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
    }
