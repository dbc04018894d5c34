"""smolagents: an agent that writes Python, with its own tool to read a page. Argument: the task."""

import sys

from smolagents import CodeAgent, OpenAIModel, VisitWebpageTool

model = OpenAIModel("gpt-4o-mini", api_key="sk-test")
print(CodeAgent(tools=[VisitWebpageTool()], model=model, max_steps=8).run(sys.argv[1]))
