"""The numbers of DNS messages and their names (IANA, "Domain Name System Parameters")."""

from collections.abc import Mapping
from typing import Final

IN, ANY_CLASS = 1, 255
"""Classes."""

A, PTR, AAAA, OPT, SVCB, HTTPS, ANY = 1, 12, 28, 41, 64, 65, 255
"""Types of records."""

NOERROR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = 0, 2, 3, 4, 5
"""Response codes."""

_TYPES: Final[Mapping[int, str]] = {
    number: name
    for first, names in (
        (1, "A NS MD MF CNAME SOA MB MG MR NULL WKS PTR HINFO MINFO MX TXT RP AFSDB X25 ISDN RT"),
        (22, "NSAP NSAP-PTR SIG KEY PX GPOS AAAA LOC NXT EID NIMLOC SRV ATMA NAPTR KX CERT A6"),
        (39, "DNAME SINK OPT APL DS SSHFP IPSECKEY RRSIG NSEC DNSKEY DHCID NSEC3 NSEC3PARAM"),
        (52, "TLSA SMIMEA"),
        (55, "HIP NINFO RKEY TALINK CDS CDNSKEY OPENPGPKEY CSYNC ZONEMD SVCB HTTPS"),
        (99, "SPF UINFO UID GID UNSPEC NID L32 L64 LP EUI48 EUI64"),
        (249, "TKEY TSIG IXFR AXFR MAILB MAILA ANY URI CAA AVC DOA AMTRELAY"),
        (32768, "TA DLV"),
    )
    for number, name in enumerate(names.split(), first)
}
_CODES: Final[Mapping[int, str]] = dict(
    enumerate(
        (
            *("NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"),
            *("YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH", "NOTZONE", "DSOTYPENI"),
        )
    )
)


def type_name(number: int) -> str:
    """Return the name of a type, such as ``AAAA``, or ``TYPE65280`` (RFC 3597 §5)."""
    return _TYPES.get(number, f"TYPE{number}")


def code_name(number: int) -> str:
    """Return the name of a response code, such as ``NXDOMAIN``, or ``RCODE(15)``."""
    return _CODES.get(number, f"RCODE({number})")
