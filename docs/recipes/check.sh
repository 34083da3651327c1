#!/bin/sh
# Starts a sandbox, checks it, and stops it. Exits with the exit code of the check.
#
#     START="npm start" sh check.sh [options of sandbox-kit check]
#
# START         command that starts the sandbox
# SANDBOX_URL   its base URL (default: http://127.0.0.1:8080)
# SANDBOX_KIT   command that runs the kit (default: npx --yes sandbox-kit)
# WAIT_SECONDS  seconds to wait until the sandbox responds (default: 60)
set -eu

: "${START:?Set START to the command that starts the sandbox, such as START=\"npm start\".}"
: "${SANDBOX_URL:=http://127.0.0.1:8080}"
: "${SANDBOX_KIT:=npx --yes sandbox-kit}"
: "${WAIT_SECONDS:=60}"

# Without quotes, so that the shell splits the command into words.
# shellcheck disable=SC2086
$START > sandbox.log 2>&1 &
sandbox=$!

stop() {
  kill "$sandbox" 2> /dev/null || true
  wait "$sandbox" 2> /dev/null || true
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

seconds=0
until curl --silent --output /dev/null --max-time 5 "$SANDBOX_URL/health"; do
  if ! kill -0 "$sandbox" 2> /dev/null; then
    echo "The sandbox exited before it responded at $SANDBOX_URL. Its output is in sandbox.log." >&2
    exit 3
  fi
  if [ "$seconds" -ge "$WAIT_SECONDS" ]; then
    echo "The sandbox did not respond at $SANDBOX_URL within $WAIT_SECONDS s. Its output is in sandbox.log." >&2
    exit 3
  fi
  sleep 1
  seconds=$((seconds + 1))
done

# shellcheck disable=SC2086
$SANDBOX_KIT check "$SANDBOX_URL" --json check.json --junit check.xml "$@"
