#!/bin/sh
# See to the programs of other people that the slow tier's tests put behind WAREX.
#
# As root on Debian what is missing is installed. Exit code 3: something is missing; the last
# sentence says what, and what to do.
set -eu
# An ordinary user has no PATH to what root alone needs.
PATH=$PATH:/usr/sbin:/sbin

# Print the package of each program that is missing, once each.
missing() {
    while read -r program package; do
        command -v "$program" >/dev/null || echo "$package"
    done <<EOF | sort -u
certutil libnss3-tools
chromedriver chromium-driver
curl curl
fish fish
go golang-go
ip iproute2
iptables iptables
javac default-jdk-headless
keytool default-jdk-headless
nft nftables
node nodejs
npm npm
openssl openssl
wget wget
zsh zsh
EOF
}

lacking=$(missing)
[ -n "$lacking" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing" $lacking "..."
    DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $lacking >&2 || true
    lacking=$(missing)
    [ -n "$lacking" ] || exit 0
fi
echo "The slow tier needs programs that this machine lacks: install" $lacking "(Debian's names, as in" \
    "apt-get install, as root) and try again; make test needs none of them." >&2
exit 3
