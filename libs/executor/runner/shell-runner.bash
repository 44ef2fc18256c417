# Runs one shell step: bash -euo pipefail shell-runner.bash STEP MEMORY_MB, in the step's working folder. The author's
# code and lib lie in ../code on the lines they have in the method, so that what bash says names those lines.
. "${BASH_SOURCE[0]%/*}/bin/step"
step__code=../code/$1.sh
ulimit -c 0
# What a program reserves without using it is left free; the step's own use is watched by the worker.
ulimit -d $((($2 + 256) * 1024)) 2> /dev/null || true
set --
# The worker writes a line once its reaper knows this process. A worker that was killed before cannot: nothing would end
# this process then.
read -r step__go <&3 || exit 1
unset step__go

step__failed() {
  # Only lines of the author's: the trap also sees commands that fail inside `step`.
  case $1 in "$step__code" | ../code/lib.sh) printf '{"t":"line","line":%d}\n' "$2" >&3 ;; esac
}
set -E
trap 'step__failed "${BASH_SOURCE[0]-}" "$LINENO"' ERR

. ../code/lib.sh
. "$step__code"
