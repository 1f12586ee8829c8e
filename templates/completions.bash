# Completions of bash: the program itself is asked what can stand at the cursor. It is given the line as it is typed, and what it
# answers is quoted already, as the line has to have it. What ends with `=` or `/` is to be gone on with, and gets no space.
_overlay() {
  local answer
  COMPREPLY=()
  while IFS= read -r answer; do
    COMPREPLY+=("$answer")
  done < <(
    OVERLAY_COMPLETE=bash OVERLAY_COMPLETE_LINE=${COMP_LINE:0:COMP_POINT} OVERLAY_COMPLETE_WORD=$2 overlay 2>/dev/null
  )
  [[ ${COMPREPLY-} == *[=/] ]] || compopt +o nospace 2>/dev/null
}

complete -o nospace -o bashdefault -o nosort -F _overlay overlay 2>/dev/null ||
  complete -o nospace -o bashdefault -F _overlay overlay
