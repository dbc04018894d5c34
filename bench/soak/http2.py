"""An HTTP/2 client that reads, reads slowly, cancels, or keeps its flow-control windows at 0."""

import asyncio
from contextlib import suppress

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from bench.soak.clients import ClientLog, ProxyRoute
from bench.soak.jobs import Job, Session
from bench.workspace import HOST

_CONCURRENCY = 10
"""Concurrent streams."""
_SECONDS = 60.0
_UNREAD_SECONDS = 0.3
"""How long a client with windows of 0 waits for response headers before it gives up."""


class _Client:
    """One connection."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        authority: str,
        *,
        unread: bool,
    ) -> None:
        self._reader, self._writer, self._unread = reader, writer, unread
        self._authority = authority
        self._connection = h2.connection.H2Connection(
            h2.config.H2Configuration(header_encoding="utf-8")
        )
        if unread:
            window = h2.settings.SettingCodes.INITIAL_WINDOW_SIZE
            self._connection.local_settings = h2.settings.Settings(initial_values={window: 0})
        self._connection.initiate_connection()
        self._jobs: dict[int, Job] = {}
        self._marks: dict[int, str | None] = {}
        self._bodies: dict[int, bytearray] = {}
        self._flush()

    def _flush(self) -> None:
        self._writer.write(self._connection.data_to_send())

    async def ask(self, jobs: tuple[Job, ...], log: ClientLog) -> tuple[Job, ...]:
        """Send all requests at once; return those that the ending connection no longer accepted."""
        try:
            for job in jobs:
                self._open(job, log)
            self._flush()
        except h2.exceptions.ProtocolError:  # The peer has sent GOAWAY.
            left = tuple(job for job in jobs if job not in self._jobs.values())
        else:
            left = ()
        try:
            async with asyncio.timeout(_UNREAD_SECONDS if self._unread else _SECONDS):
                await self._settle(log)
        except TimeoutError:
            if not self._unread:
                self._writer.transport.abort()
                raise
            for stream in list(self._jobs):
                self._cancel(stream, log)
        except (OSError, h2.exceptions.ProtocolError) as error:
            for job in self._jobs.values():
                # A reset loses the data in transit in both directions.
                log.note(job, "lost" if isinstance(error, OSError) else "cut", repr(error))
            self._jobs.clear()
            self._writer.close()
        return left

    def _open(self, job: Job, log: ClientLog) -> None:
        stream = self._connection.get_next_available_stream_id()
        headers = [
            (":method", job.method),
            (":scheme", "https"),
            (":authority", self._authority),
            (":path", job.path),
            ("accept", "*/*"),
        ]
        if job.part == "scripts":
            headers.append(("sec-fetch-dest", "script"))
        self._connection.send_headers(stream, headers, end_stream=not job.body)
        if job.body:
            self._connection.send_data(stream, job.body, end_stream=True)
        self._jobs[stream], self._bodies[stream] = job, bytearray()
        if job.act == "leave_at_once":
            self._cancel(stream, log)

    def _cancel(self, stream: int, log: ClientLog) -> None:
        job = self._jobs.pop(stream)
        with suppress(h2.exceptions.ProtocolError):
            self._connection.reset_stream(stream, h2.errors.ErrorCodes.CANCEL)
        self._flush()
        # A window of 0 holds a body back, but not the reset of a cut, which may be in transit.
        cut = job.part in ("cut", "network-error") and job.act == "leave_unread"
        unread = job.act in ("leave_at_once", "leave_unread") and not cut
        log.note(job, "left_unread" if unread else "left")

    async def _settle(self, log: ClientLog) -> None:
        while self._jobs:
            data = await self._reader.read(65536)
            if not data:
                raise ConnectionError("the connection ended")
            slow = False
            for event in self._connection.receive_data(data):
                slow |= self._take(event, log)
            if slow:
                await asyncio.sleep(0.01)
            self._flush()

    def _take(self, event: h2.events.Event, log: ClientLog) -> bool:
        """Handle an event; return whether a slow client has to wait."""
        match event:
            case h2.events.ResponseReceived(stream_id=int(stream), headers=headers):
                mark = {str(name): str(value) for name, value in headers or ()}.get("x-site")
                self._marks[stream] = mark
                if (job := self._jobs.get(stream)) and job.act == "leave":
                    self._cancel(stream, log)
            case h2.events.DataReceived(stream_id=int(stream), data=data):
                self._connection.acknowledge_received_data(
                    event.flow_controlled_length or 0, stream
                )
                if job := self._jobs.get(stream):
                    self._bodies[stream] += data or b""
                    return job.act == "slow"
            case h2.events.StreamEnded(stream_id=int(stream)):
                if job := self._jobs.pop(stream, None):
                    log.note_response(job, self._marks.get(stream), bytes(self._bodies.pop(stream)))
            case h2.events.StreamReset(stream_id=int(stream), error_code=code):
                if job := self._jobs.pop(stream, None):
                    log.note(job, "cut", f"the stream was reset ({code})")
            case h2.events.ConnectionTerminated():
                raise ConnectionError("the connection was ended")
            case _:
                pass
        return False

    async def close(self) -> None:
        """Close the connection with GOAWAY."""
        if self._writer.is_closing():
            return
        with suppress(h2.exceptions.ProtocolError, OSError):
            self._connection.close_connection()
            self._flush()
            self._writer.close()
            await self._writer.wait_closed()


async def http2(route: ProxyRoute, session: Session, log: ClientLog) -> None:
    """Send requests in batches on one connection; reopen it if it ends."""
    jobs = session.jobs
    while jobs:
        opened = await route.connect(route.port, "h2")
        client = _Client(*opened, f"{HOST}:{route.port}", unread=session.unread)
        left: tuple[Job, ...] = ()
        while jobs and not left and not opened[1].is_closing():
            left = await client.ask(jobs[:_CONCURRENCY], log)
            jobs = left + jobs[_CONCURRENCY:]
        await client.close()
