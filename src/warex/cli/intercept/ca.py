"""`warex ca`: where the certificate authority is."""

import click

from warex.cli.output import echo


@click.command("ca")
@click.option("--pem", is_flag=True, help="Print the certificate.")
@click.option("--spki", is_flag=True, help="Print the hash for Chromium's command line.")
@click.option(
    "--bundle",
    is_flag=True,
    help="Print this machine's trusted certificates and the CA's, as for SSL_CERT_FILE.",
)
def command(pem: bool, spki: bool, bundle: bool) -> None:
    """Print the path of the CA's certificate, which is created if missing.

    The private key beside it stays on this machine; delete the folder for a new CA.
    """
    from warex.proxy.certificates.ca import ensure_ca, system_bundle

    if pem + spki + bundle > 1:
        raise click.UsageError("--pem, --spki and --bundle exclude each other; give one of them")
    ca = ensure_ca()
    if pem:
        echo(ca.certificate.read_text().rstrip())
    elif spki:
        echo(ca.spki)
    elif bundle:
        echo(system_bundle().read_text().rstrip())
        echo(ca.certificate.read_text().rstrip())
    else:
        echo(ca.certificate)
