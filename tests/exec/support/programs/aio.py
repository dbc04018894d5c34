"""aiohttp: prints the status, the protocol and the body of a URL."""

import asyncio
import sys

import aiohttp


async def main() -> None:
    # Without ``trust_env`` it ignores the proxy variables; its users set it.
    async with aiohttp.ClientSession(trust_env=True) as session, session.get(sys.argv[1]) as answer:
        body = await answer.read()
        version = answer.version
        assert version is not None
        sys.stdout.buffer.write(
            f"{answer.status} {version.major}.{version.minor}\n".encode() + body
        )


asyncio.run(main())
