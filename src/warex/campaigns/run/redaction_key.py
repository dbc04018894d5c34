"""The key of the hashes that stand for secrets in a run's traces.

Trials of one run are compared, so that equal values must have equal hashes in all of them, also
after ``--resume``. The key must not stand in the run's folder: with it, a short password could be
guessed from its hash. So it is derived from the key of the user's CA, which never leaves the
machine, and from the time at which the run was started, so that two runs cannot be compared.
"""

import hashlib
import hmac

from warex.errors import MachineError
from warex.proxy.certificates.ca import CertificateAuthority, key_file

_PURPOSE = b"warex: hashes in the traces of a run, "


def redaction_key(ca: CertificateAuthority, begun_at: str) -> str:
    """Return a run's key in hex. Raises MachineError if the CA's key cannot be read."""
    path = key_file(ca.folder)
    try:
        secret = path.read_bytes()
    except OSError as error:
        raise MachineError(f"{path} cannot be read: {error.strerror}") from None
    return hmac.new(secret, _PURPOSE + begun_at.encode(), hashlib.sha256).hexdigest()
