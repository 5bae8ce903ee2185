#!/usr/bin/env bash
# load.sh [URL] [seconds] [pid]: what a server does under 16 connections, with wrk: errors,
# latency, and its resident memory before and after. Without a URL it starts `attn serve` of
# $ATTN (default: build/release/bin/attn) itself.
set -euo pipefail

command -v wrk >/dev/null || { echo "load: wrk is missing (Debian: apt-get install wrk)" >&2; exit 1; }
root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../..
url=${1-} seconds=${2:-30} pid=${3-}
work=$(mktemp -d)
trap '[[ -z ${own-} ]] || kill "$own"; rm -rf "$work"' EXIT

if [[ -z $url ]]; then
  "${ATTN:-$root/build/release/bin/attn}" serve --port 0 >"$work/address" &
  own=$! pid=$!
  for _ in {1..100}; do
    [[ -s $work/address ]] && break
    sleep 0.1
  done
  url=$(<"$work/address")
fi
url=${url%/}

resident() { [[ -z $pid ]] || awk '/VmRSS/ {print "resident " $2 " kB"}' "/proc/$pid/status"; }

cat >"$work/answer.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"task": "pronounce", "text": "attention", "beam": 1}'
LUA
cat >"$work/live.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"name": "temperature", "values": {"temperature": 2}}'
LUA

# load <title> <path> [script]
load() {
  echo "== $1"
  wrk -t 2 -c 16 -d "${seconds}s" --latency ${3:+-s "$3"} "$url$2" |
    grep -E '50%|99%|requests in|Requests/sec|Socket errors|Non-2xx' ||
    true
  resident
}

curl -sf "$url/health" >/dev/null
resident
load "the page" /
load "a live example" /api/live "$work/live.lua"
load "an answer" /api/answer "$work/answer.lua"
curl -sf "$url/health" >/dev/null && echo "still there"
