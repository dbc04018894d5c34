import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.training.tiny_model import tiny_model
from warex.cli.training.serve import _listen, command
from warex.errors import InputError, MachineError
from warex.training.ranking.ranker import FACTS


def test_a_port_that_is_taken_is_reported_before_a_model_is_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(MachineError, match=rf"port {port} is not available: .*--port 0"):
            _listen("127.0.0.1", port)


@pytest.mark.parametrize("adapters", [(), ("one", "two")])
def test_one_adapter_is_merged_not_none_or_several(adapters: tuple[str, ...]) -> None:
    inputs = [word for name in adapters for word in ("--adapter", name)]

    result = CliRunner().invoke(command, ["--model", "m", "--merge", *inputs])

    assert result.exit_code == 2
    assert "--merge takes one --adapter" in result.output


@pytest.mark.parametrize("option", [("--adapter", "a"), ("--merge",), ("--legal", "d")])
def test_an_option_of_language_models_is_refused_by_its_name_with_a_ranker(
    tmp_path: Path, option: tuple[str, ...]
) -> None:
    (tmp_path / FACTS).touch()

    with pytest.raises(InputError, match=f"^{option[0]} goes with a language model"):
        command.main(["--model", str(tmp_path), *option], standalone_mode=False)


@pytest.mark.slow
def test_openais_own_client_is_answered_and_an_interrupt_ends_it(tmp_path: Path) -> None:
    import openai

    model = tiny_model(tmp_path / "model")
    started = [sys.executable, "-m", "warex.cli", "serve", "--model", str(model), "--port", "0"]
    with subprocess.Popen(
        [*started, "--name", "gpt-4o"], stdout=subprocess.PIPE, text=True, env={**os.environ}
    ) as server:
        assert server.stdout is not None
        match = re.match(r"serving  (\S+)  \((.*)\)", server.stdout.readline())
        assert match is not None
        assert match[2] == f"{model}, gpt-4o"
        client = openai.OpenAI(base_url=match[1], api_key="none", max_retries=0)
        messages: list[openai.types.chat.ChatCompletionMessageParam] = [
            {"role": "user", "content": "Hello"}
        ]

        answer = client.chat.completions.create(
            model="gpt-4o", messages=messages, max_tokens=4, temperature=0
        )
        stream = client.chat.completions.create(
            model="gpt-4o", messages=messages, max_tokens=4, temperature=0, stream=True
        )
        streamed = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        with pytest.raises(openai.NotFoundError, match="is not served here"):
            client.chat.completions.create(model="other", messages=messages)
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0

    assert answer.usage is not None
    assert answer.usage.completion_tokens == 4
    assert streamed.strip() == answer.choices[0].message.content
