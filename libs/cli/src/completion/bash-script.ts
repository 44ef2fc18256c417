// Completion for bash, from version 3.2 on: nothing but its own `complete`, no bash-completion package.
import type { CompletionWords } from './completion-words.ts';

export function bashScript(commands: readonly CompletionWords[]): string {
  const cases = commands.map(({ name, words, options }) => {
    const spellings = options.flatMap(({ long, short }) => (short === null ? [long] : [long, short]));
    const withValue = options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ long, short }) => [long, short ?? long]);
    return (
      `    ${name})\n      words=${shellQuote(words.join(' '))}\n      options=${shellQuote(spellings.join(' '))}\n` +
      `      values=${shellQuote(` ${[...new Set(withValue)].join(' ')} `)} ;;\n`
    );
  });
  const names = commands.map(({ name }) => name).join(' ');
  return `# Completion of "methods" for bash:  source <(methods completion bash)
_methods() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words= options= values=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${shellQuote(`${names} help --help`)} -- "$cur"))
    return
  fi
  if [ "\${COMP_WORDS[1]}" = help ]; then
    COMPREPLY=($(compgen -W ${shellQuote(names)} -- "$cur"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('')}    *) return ;;
  esac
  # The value of an option is a file, or nothing that a shell could know.
  case "$values" in *" $prev "*) return ;; esac
  case $cur in
    -*) COMPREPLY=($(compgen -W "$options" -- "$cur")) ;;
    *) [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
complete -o bashdefault -o default -F _methods methods
`;
}

export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
