#!/bin/sh
# Reads "add <pid> <signal>" and "remove <pid>" lines from its parent. When the pipe closes, the parent is gone: whatever
# it had not ended by itself (it was killed, or crashed) is ended here, the latest first, so that nothing is left running.
trap '' INT TERM HUP
entries=''
while read -r verb pid signal; do
  kept=''
  for entry in $entries; do
    [ "${entry%%:*}" = "$pid" ] || kept="$kept $entry"
  done
  case "$verb" in
    add) entries="$pid:$signal$kept" ;;
    remove) entries="$kept" ;;
  esac
done
for entry in $entries; do
  kill -s "${entry##*:}" -- "-${entry%%:*}" 2>/dev/null
done
patience=50
while [ "$patience" -gt 0 ]; do
  running=''
  for entry in $entries; do
    kill -s 0 -- "-${entry%%:*}" 2>/dev/null && running="$running ${entry%%:*}"
  done
  [ -z "$running" ] && exit 0
  sleep 0.2
  patience=$((patience - 1))
done
for pid in $running; do
  kill -s KILL -- "-$pid" 2>/dev/null
done
