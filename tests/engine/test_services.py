import asyncio

from warex.engine.services import eager_task


async def test_a_task_runs_at_once_until_it_waits() -> None:
    seen: list[int] = []

    async def work() -> None:
        seen.append(1)
        await asyncio.sleep(0)
        seen.append(2)

    task = eager_task(work())
    assert seen == [1]
    await task
    assert seen == [1, 2]
