# Prints a recorded time of work.py as it is here, as a metric: recorded.sh TIMES COUNTER SEED
# The counter is a file; each call takes another of the times.
state=$(grep -c 'seen = set()' work.py)$(grep -c 'values\[word\] = value' work.py)$(grep -c '^    order.sort()' work.py)
number=$(cat "$2" 2>/dev/null || echo 0)
echo $((number + 1)) >"$2"
while read -r key times; do
  [ "$key" = "$state" ] || continue
  set -- "$3" $times
  seed=$1
  shift
  # Steps of a full period through all places, from a random one.
  place=$(((seed * 7919 + number * 101 + number / $# * 37) % $#))
  shift "$place"
  echo "{\"seconds\": $1}"
done <"$1"
