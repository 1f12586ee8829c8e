#compdef overlay
# Completions of zsh: the program itself is asked what can stand at the cursor. To be sourced, or to be named `_overlay` in a
# folder of `fpath`. What ends with `=` or `/` is to be gone on with, and gets no space.
_overlay() {
  local answer
  local -a answers complete open typed=("${(@Q)words}")
  # Of the word at the cursor only what stands before it, without a quote that is open.
  typed[CURRENT]=${(Q)PREFIX}
  answers=("${(@f)$(
    OVERLAY_COMPLETE=zsh _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((CURRENT - 1)) overlay -- "${typed[@]}" 2>/dev/null
  )}")
  for answer in $answers; do
    if [[ ${answer%%:*} == *[=/] ]]; then
      open+=("$answer")
    else
      complete+=("$answer")
    fi
  done
  (( $#complete )) && _describe -V values complete
  (( $#open )) && _describe -V values open -S ''
}

if [[ $funcstack[1] == _overlay ]]; then
  # Loaded by the first Tab, which is to be answered too.
  _overlay "$@"
else
  compdef _overlay overlay
fi
