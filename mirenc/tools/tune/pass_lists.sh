# One source: `choose FILE`, which is above, says its level and its pass list, if it has any.
source=${!#} level='' passes='' model=''
if [[ $source != - && " $* " =~ \ -(emit-obj|S)\  && " $* " =~ \ -x\ c(\+\+)?\  ]]; then
    choose "$(realpath -- "$source")"
fi
[ -n "$passes" ] || exec -a clang "$clang" "$@"
[[ " $* " != *" -mrelocation-model pic "* ]] || model=-relocation-model=pic
words=("${@:1:$#-1}") front=() # without the source
for word in "${words[@]}"; do
    case $word in -emit-obj | -S) front+=(-emit-llvm-bc) ;; *) front+=("$word") ;; esac
done
bitcode=$(mktemp) && trap 'rm -f "$bitcode" "$bitcode.opt"' EXIT &&
    "$clang" "${front[@]}" "$level" -disable-llvm-passes -o "$bitcode" "$source" &&
    "$opt" $model -passes="$passes" "$bitcode" -o "$bitcode.opt" &&
    "$clang" "${words[@]}" "$level" -disable-llvm-passes -x ir "$bitcode.opt"
