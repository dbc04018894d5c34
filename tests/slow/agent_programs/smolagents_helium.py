"""smolagents with helium: an agent that writes Python for Selenium. Argument: the task."""

import sys

import helium
from selenium.webdriver import ChromeOptions
from smolagents import CodeAgent, OpenAIModel

options = ChromeOptions()
options.add_argument("--no-sandbox")
helium.start_chrome(headless=True, options=options)
agent = CodeAgent(
    tools=[],
    model=OpenAIModel("gpt-4o-mini", api_key="sk-test"),
    additional_authorized_imports=["helium"],
    max_steps=8,
)
agent.python_executor("from helium import *")
print(agent.run(sys.argv[1]))
helium.kill_browser()
