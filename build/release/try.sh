#!/bin/sh
# Installs a release archive by its two commands on a bare Debian, starts it there as the unit does, and upgrades it:
#   build/release/try.sh ARCHIVE [FOLDER OF A BARE DEBIAN]
# For root, with debootstrap. What needs systemd is left out: a chroot has none.
set -eu
archive=$(realpath "$1")
work=$(mktemp -d)
root=$work/debian
relay=
finish() {
  [ -z "$relay" ] || kill "$relay" 2> /dev/null || true
  wait
  rm -rf "$work"
}
trap finish EXIT INT TERM

if [ -n "${2:-}" ]; then cp -a "$2" "$root"; else debootstrap --variant=minbase bookworm "$root" > "$work/debootstrap.log"; fi
chroot "$root" sh -c '! command -v node' || { echo 'This Debian is not bare.' >&2; exit 1; }
cp "$archive" "$archive.sha256" "$root/root/"
name=$(basename "$archive" .tar.gz)
inside() { chroot "$root" env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -euc "cd /root; $1"; }

inside "sha256sum -c $name.tar.gz.sha256"
# The two commands.
inside "tar -xzf $name.tar.gz"
inside "./$name/install.sh chat.example.org"

# Where a test of the machine's own may listen.
printf 'PORT=18480\nKEYS_PORT=18481\n' >> "$root/etc/sinetti/relay.env"
start() {
  command=$(sed -n 's/^ExecStart=node //p' "$root/etc/systemd/system/sinetti.service")
  # What the unit says of account, folder and environment.
  chroot "$root" sh -c "cd /opt/sinetti && set -a && . /etc/sinetti/relay.env && NODE_ENV=production DATA_DIR=/var/lib/sinetti exec \
    setpriv --reuid=sinetti --regid=sinetti --init-groups node/bin/node $command" > "$work/relay.log" 2>&1 &
  relay=$!
}
answers() {
  inside "/opt/sinetti/node/bin/node -e '
    const until = Date.now() + 120000;
    const ask = (path, port) => fetch(\`http://127.0.0.1:\${port}\${path}\`).then((answer) => answer.ok && answer.text(), () => false);
    (async () => {
      while (!(await ask(\"/readyz\", 18480)) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 100));
      const [page, version, keys] = [await ask(\"/\", 18480), await ask(\"/api/version\", 18480), await ask(\"/keys.html\", 18481)];
      if (!/<script/.test(page) || !/version/.test(version) || !/<script/.test(keys)) throw new Error([page, version, keys].join());
      console.log(version);
    })()'" || { cat "$work/relay.log" >&2; exit 1; }
}

start
answers
inside 'sinetti-relay version; sinetti-relay usage --top 0; sinetti-relay invitations create --note first'
[ "$(stat -c %a "$root/var/lib/sinetti")" = 700 ]
[ "$(stat -c %a "$root/etc/sinetti/relay.env")" = 600 ]

# An upgrade: the same two commands with another archive, beside the relay that runs.
inside "rm -r $name; mkdir next-version; tar -xzf $name.tar.gz -C next-version --strip-components=1; ./next-version/install.sh"
[ "$(readlink "$root/opt/sinetti")" = next-version ]
grep -q 'KEYS_ORIGIN=https://keys.chat.example.org' "$root/etc/sinetti/relay.env"
answers
kill "$relay"
wait "$relay" || { cat "$work/relay.log" >&2; exit 1; }
start
answers
inside 'sinetti-relay invitations list'
echo 'Installed, started and upgraded.'
