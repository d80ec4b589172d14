#!/usr/bin/env bash
# Run a command in a bare Debian of any release, in a copy of this checkout without what git ignores:
#     OPENBLAS_CORETYPE=Haswell bash scripts/debian_root.sh bookworm bash scripts/test.sh
# It has Python with venv and certificates, no compiler and no linker. debootstrap makes it the first time, in
# $MIRENC_ROOTS (default ~/.cache/mirenc-roots); the copy is new each time and goes when the command ends. Needs root.
#
# Of this machine it sees: pip's configuration and the folders of wheels that it names, certificates, hosts, proxies, and
# OPENBLAS_CORETYPE and ATEN_CPU_CAPABILITY, which say for what processor numpy and torch calculate.
set -euo pipefail
release=${1:?usage: debian_root.sh RELEASE COMMAND...}
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=${MIRENC_ROOTS:-$HOME/.cache/mirenc-roots}/$release

if [ ! -e "$root.made" ]; then
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates "$release" "$root" >&2
    touch "$root.made"
fi

copy=$(mktemp -d "$root/home/mirenc.XXXXXX")
trap 'rm -rf --one-file-system "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- |
    tar --extract --no-same-owner --directory "$copy"

cp /etc/hosts /etc/resolv.conf "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
configuration=()
for file in /etc/pip.conf "$HOME"/{.pip,.config/pip}/pip.conf "${PIP_CONFIG_FILE:-}"; do
    if [ -f "$file" ]; then
        install -D --mode=644 "$file" "$root${file/#"$HOME"//root}"
        configuration+=("$file")
    fi
done
readarray -d '' variables < <(env -0 | grep -zE '^(PIP_[A-Z_]+|OPENBLAS_CORETYPE|ATEN_CPU_CAPABILITY|[a-z]+_proxy)=')
# A mirror's pages may point beside themselves: from file:///mirror/simple to /mirror/files.
readarray -t folders < <(cat "${configuration[@]}" - <<<"${variables[*]}" | grep -oE '/[^ ]+' | sed 's|/simple/*$||')

# In a mount namespace of its own: nothing stays mounted, however the command ends.
export root
# shellcheck disable=SC2016 # the inner shell expands it
unshare --mount bash -euc '
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs tmpfs "$root/dev/shm"
    while [ "$1" != -- ]; do
        if [ -d "$1" ] && [ "$1" != / ]; then
            mkdir -p "$root$1"
            mount --rbind "$1" "$root$1"
        fi
        shift
    done
    shift
    exec chroot "$root" env --ignore-environment --chdir="$@"
' bash "${folders[@]}" -- "/home/${copy##*/}" HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    "${variables[@]}" "$@"
