#!/bin/sh
# Follow a session with nothing but curl: server-sent events, one `data:` line of JSON each.
#
#     examples/follow.sh 'http://127.0.0.1:8790/#session=…&token=…' [SESSION]
#
# The URL is the one that `turnwire run` prints (the one for watching is enough); it names the session that was started.
# Where neither it nor SESSION does, the newest is followed.
# An event's `id:` is its cursor; send the last one as Last-Event-ID to go on from there.
set -eu
base=${1%%#*}
base=${base%/}
carried="&${1#*#}&"
token=${carried#*&token=}
token=${token%%&*}
session=${2:-}
case $carried in
*"&session="*) [ "$session" ] || { session=${carried#*&session=}; session=${session%%&*}; } ;;
esac
if [ -z "$session" ]; then
    # one object a session, the newest last
    session=$(curl -fsS -H "Authorization: Bearer $token" "$base/sessions" | sed 's/.*"session": *"\([^"]*\)".*/\1/')
fi
exec curl -fsSN -H "Authorization: Bearer $token" "$base/sessions/$session/events"
