# Sourced by the scripts here: -h and --help print the comment at the script's head, and nothing is done.
case ${1:-} in
  -h | --help) sed -n '2,${/^#/!q; s/^# \{0,1\}//p}' "$0"; exit 0 ;;
esac
