#!/usr/bin/env bash
# Install Chromium and its driver from Debian's packages, for the tests in tests/browser; does nothing if they are there.
set -euo pipefail

if command -v chromium > /dev/null && command -v chromedriver > /dev/null; then
    exit 0
fi
if ! command -v apt-get > /dev/null; then
    echo "The browser tests need chromium and chromedriver, and this system has no apt-get: install both by its own means." >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "The browser tests need Debian's packages chromium and chromium-driver: run 'sudo scripts/install_chromium.sh'." >&2
    exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing Chromium from Debian's packages"
export DEBIAN_FRONTEND=noninteractive
{ apt-get update && apt-get install --yes --no-install-recommends chromium chromium-driver fonts-dejavu-core; } > "$log" 2>&1 || {
    tail -20 "$log" >&2
    echo "Chromium could not be installed from Debian's packages; the last lines of apt-get are above." >&2
    exit 1
}
