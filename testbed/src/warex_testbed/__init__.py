"""Twelve small real web sites with tasks and checks: a benchmark for web agents on one machine.

`warex-testbed serve` runs the sites as a program of their own. In Python:

- `warex_testbed.tasks`: `load_tasks()` returns each `Task` with its `goal`, its `start_url()` and
  `judge(state, answer)`, which returns a `Verdict`; `FILES` are the files that they stand in.
- `warex_testbed.server`: `Testbed()` serves the sites from this process, as a context manager, on
  `port`; `admin_port` tells their state and resets them.
- `warex_testbed.sites`: `HOSTS`, the kind of site behind each host name.

Everything else may change without notice.
"""
