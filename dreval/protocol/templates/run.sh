#!/bin/sh
# Runs a command on every task without output:   sh run.sh COMMAND [ARGUMENT ...]
# The command is called as   COMMAND [ARGUMENT ...] INPUT OUTPUT N_COMPONENTS SEED   in the current folder.
# INPUT and OUTPUT are full paths.
[ "$#" -gt 0 ] || { echo "usage: sh run.sh COMMAND [ARGUMENT ...]" >&2; exit 2; }
folder=$(CDPATH= cd "$(dirname "$0")" && pwd) || exit 2
mkdir -p "$folder/@RETURNED@"
failed=0
while IFS=, read -r task round input output n_components seed; do
    if [ "$task" = task ] || [ -e "$folder/$output" ]; then continue; fi
    part="$folder/@RETURNED@/.unfinished-${output##*/}"  # an interrupted run leaves no partial output
@NEW@    if "$@" "$folder/$input" "$part" "$n_components" "$seed" < /dev/null && [ -e "$part" ]; then
        mv "$part" "$folder/$output"
    else
        echo "failed: $task" >&2
        failed=1
    fi
done < "$folder/tasks.csv"
exit $failed
