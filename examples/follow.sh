#!/bin/sh
# Follow a session with nothing but curl: server-sent events, one `data:` line of JSON each.
#
#     examples/follow.sh 'http://127.0.0.1:8790/#token=…' [SESSION]
#
# The URL is the one that `turnwire run` prints (the one for watching is enough). Without SESSION: the first one.
# An event's `id:` is its cursor; send the last one as Last-Event-ID to go on from there.
set -eu
base=${1%%#*}
base=${base%/}
token=${1##*token=}
session=${2:-$(curl -fsS -H "Authorization: Bearer $token" "$base/sessions" | sed 's/.*"session": *"\([^"]*\)".*/\1/')}
exec curl -fsSN -H "Authorization: Bearer $token" "$base/sessions/$session/events"
