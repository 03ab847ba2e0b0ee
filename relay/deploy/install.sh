#!/bin/sh
# Installs, or upgrades, Sinetti from an unpacked release archive, for root on Debian 12 or the like:
#   ./install.sh chat.example.org
# The relay then listens on this machine alone, at ports 8080 and 8081, for a proxy that has the certificates of chat.example.org and
# keys.chat.example.org. Each version has a folder of its own, and /opt/sinetti leads to the one that runs, so that nothing changes
# below a relay that is running.
set -eu
umask 022
name=${1:-}
from=$(cd "$(dirname "$0")" && pwd)
settings=/etc/sinetti/relay.env

fail() { echo "$1" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail 'Run it as root.'
[ -f "$from/relay/dist/src/server.js" ] || fail "This is no unpacked release: $from"
if [ ! -e "$settings" ]; then
  echo "$name" | grep -Eqx '[a-z0-9.-]+\.[a-z]+' || fail 'Say at which name people find it: ./install.sh chat.example.org'
fi
node=$from/node/bin/node
if [ ! -x "$node" ]; then
  node=$(command -v node) || fail 'This archive is without Node.js: install version 20.19 or newer first.'
fi
"$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  fail 'Node.js 20.19 or newer is needed.'

getent group sinetti > /dev/null || groupadd --system sinetti
getent passwd sinetti > /dev/null ||
  useradd --system --gid sinetti --home-dir /var/lib/sinetti --no-create-home --shell /usr/sbin/nologin sinetti
install -d -m 0700 -o sinetti -g sinetti /var/lib/sinetti
install -d -m 0750 /etc/sinetti
if [ ! -e "$settings" ]; then
  (umask 077 && printf 'TRUST_PROXY=true\nKEYS_ORIGIN=https://keys.%s\n' "$name" > "$settings")
fi

version=$(basename "$from")
place=/opt/$version
if [ "$from" != "$place" ]; then
  rm -rf "$place.new"
  cp -r "$from" "$place.new"
  rm -rf "$place"
  mv "$place.new" "$place"
fi
chown -R root:root "$place"
[ ! -d /opt/sinetti ] || [ -L /opt/sinetti ] || fail '/opt/sinetti is a folder: move it away first.'
ln -s "$version" /opt/sinetti.new
mv -T /opt/sinetti.new /opt/sinetti
install -m 0755 /opt/sinetti/relay/deploy/sinetti-relay /usr/local/sbin/sinetti-relay
install -d /etc/systemd/system
install -m 0644 /opt/sinetti/relay/deploy/sinetti.service /etc/systemd/system/sinetti.service

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl enable --quiet sinetti
  systemctl restart sinetti
  echo "Installed $version, and started: journalctl -u sinetti -n 1"
else
  echo "Installed $version. There is no systemd here that could start it."
fi
