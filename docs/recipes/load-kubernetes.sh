#!/bin/sh
# Load-tests a sandbox from the pods of a Kubernetes Indexed Job, and judges all of them together. Exits
# with the exit code of the merged report.
#
#     SANDBOX_URL=https://sandbox.example.com IMAGE=registry.example.com/sandbox-kit \
#       sh load-kubernetes.sh [options of sandbox-kit load --merge, such as --html load.html]
#
# SANDBOX_URL      base URL of the sandbox, as the pods reach it
# IMAGE            container image of the kit; Dockerfile builds it
# SHARDS           number of pods (default: 4)
# RATE, DURATION   of the whole run (default: 400, 5m)
# START_SECONDS    seconds until all pods are ready (default: 120)
# TIMEOUT_SECONDS  the longest time of the Job (default: 1800)
# SANDBOX_KIT      command that runs the kit on this machine (default: npx --yes sandbox-kit)
#
# The reports come from the logs of the pods. A node cuts logs that are larger than its containerLogMaxSize
# (default: 10 MiB, about 700,000 requests for each shard). For longer runs, write them to a shared volume.
set -eu

: "${SANDBOX_URL:?Set SANDBOX_URL to the base URL of the sandbox.}"
: "${IMAGE:?Set IMAGE to the container image of the kit.}"
: "${SHARDS:=4}"
: "${RATE:=400}"
: "${DURATION:=5m}"
: "${START_SECONDS:=120}"
: "${TIMEOUT_SECONDS:=1800}"
: "${SANDBOX_KIT:=npx --yes sandbox-kit}"

job=sandbox-kit-load-$(date +%s)
start=$(node -p "new Date(Date.now() + $START_SECONDS * 1000).toISOString()")

sed -e "s|\${JOB}|$job|g" -e "s|\${IMAGE}|$IMAGE|g" -e "s|\${SANDBOX_URL}|$SANDBOX_URL|g" \
  -e "s|\${SHARDS}|$SHARDS|g" -e "s|\${RATE}|$RATE|g" -e "s|\${DURATION}|$DURATION|g" \
  -e "s|\${START}|$start|g" -e "s|\${TIMEOUT_SECONDS}|$TIMEOUT_SECONDS|g" \
  "$(dirname "$0")/load-kubernetes.yaml" | kubectl create -f -

# A Job that fails is not complete, but its pods say why.
kubectl wait --for=condition=complete --timeout="${TIMEOUT_SECONDS}s" "job/$job" || true

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
index=0
while [ "$index" -lt "$SHARDS" ]; do
  kubectl logs --tail=-1 \
    --selector "batch.kubernetes.io/job-name=$job,batch.kubernetes.io/job-completion-index=$index" \
    > "$directory/shard-$index.json"
  # Without a report, the pod printed why.
  case $(head -c 1 "$directory/shard-$index.json") in
    '{') ;;
    *) cat "$directory/shard-$index.json" >&2 ;;
  esac
  index=$((index + 1))
done

# Without quotes, so that the shell splits the command into words.
# shellcheck disable=SC2086
$SANDBOX_KIT load --merge "$directory"/shard-*.json "$@"
