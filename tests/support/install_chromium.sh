#!/bin/sh
# Install Debian's Chromium for the tests in a browser (make test-browser), unless there is one already.
# AIX_NO_BROWSER=1 does without a browser: nothing is installed, and these tests are skipped.
set -eu
if [ "${AIX_NO_BROWSER:-}" = 1 ] || [ -n "${AIX_CHROMIUM:-}" ] || command -v chromium >/dev/null 2>&1; then
  exit 0
fi
command -v apt-get >/dev/null 2>&1 || {
  echo "There is no apt-get here: install Chromium, and name it as AIX_CHROMIUM=/path/to/chromium" >&2
  exit 1
}
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get -q update
$as_root apt-get -q install -y --no-install-recommends chromium
