"""An answer with a defect, which its client may leave as soon as it has met it."""

from warex.engine.clients import ClientSide
from warex.engine.exchange_record import ExchangeRecord
from warex.engine.http.heads import ResponseHead
from warex.engine.http.malformed import Defect, malformed
from warex.engine.sending.paced_body import PacedBody


async def send_malformed(
    client: ClientSide,
    stream: int,
    record: ExchangeRecord,
    body: PacedBody,
    head: ResponseHead,
    content: bytes,
    defect: Defect,
) -> bool:
    """Send it up to the message's own end; return whether the exchange ends without that."""
    answer = malformed(head, content, defect, stream, is_http2=client.is_multiplexed)
    client.send_response(stream, answer.head)
    record.head_sent = True
    if answer.is_in_head:
        await _arrive(client, stream, record)
    await body.begin()
    await body.send(answer.body)
    if answer.ends and not answer.is_in_head:
        client.flush()
        await client.sent(stream)
        await _arrive(client, stream, record, answer.rest)
    return answer.ends


async def _arrive(
    client: ClientSide, stream: int, record: ExchangeRecord, rest: bytes = b""
) -> None:
    """Send the answer as it is; the client may close once it has it."""
    was_connected = client.takes_all(stream)
    client.flush()
    client.write(rest)
    try:
        await client.sent(stream)
    finally:
        record.arrived = client.end.has_arrived(was_connected=was_connected)
