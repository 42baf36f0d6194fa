set -euo pipefail
# shellcheck disable=SC1090
source "$2/sign-request.sh"
source "$2/verify-webhook.sh"
count=0
while IFS=' ' read -r -a fields; do
  # Each value begins with an x, so that an empty one is seen.
  value=(); for field in "${fields[@]:1}"; do printf -v text '%b' "$field"; value+=("${text#x}"); done
  last=$((${#value[@]} - 1))
  if [ "${fields[0]}" = request ]; then
    signature=$(sign_request "${value[1]}" "${value[2]}" "${value[3]}" "${value[4]}" "${value[5]}")
    [ "$signature" = "${value[$last]}" ] || { echo "${value[0]}" >&2; exit 1; }
  else
    arguments=("${value[1]}" "${value[2]}" "${value[$last]}" "${value[3]}" "${value[4]}")
    accepted=false; verify_webhook "${arguments[@]}" < <(printf '%s' "${value[6]}") && accepted=true
    [ "$accepted" = "${value[5]}" ] || { echo "${value[0]}" >&2; exit 1; }
    ! verify_webhook "${arguments[@]}" < <(printf '%s ' "${value[6]}") || { echo "${value[0]}" >&2; exit 1; }
  fi
  count=$((count + 1))
done < "$1"
echo "verified $count"
