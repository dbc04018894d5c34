"""`warex ca`: where the certificate authority is."""

import click

from warex.proxy.ca import ensure_ca


@click.command("ca")
@click.option("--pem", is_flag=True, help="Print the certificate itself.")
@click.option("--spki", is_flag=True, help="Print what Chromium's command line takes.")
def command(pem: bool, spki: bool) -> None:
    """Print the path of the CA's certificate, made now if there is none.

    The private key beside it never leaves this machine; delete the folder to begin anew.
    """
    ca = ensure_ca()
    if pem:
        click.echo(ca.certificate.read_text().rstrip())
    elif spki:
        click.echo(ca.spki)
    else:
        click.echo(ca.certificate)
