// Completion for zsh, with what each command and option is for.

import { shellQuote } from './bash-script.ts';
import type { CompletionOption, CompletionWords } from './completion-words.ts';

export function zshScript(commands: readonly CompletionWords[]): string {
  const described = commands.map(
    ({ name, summary }) => `    ${shellQuote(`${name}:${summary.replaceAll(':', '\\:')}`)}\n`,
  );
  const cases = commands.map(({ name, words, options }) => {
    const operand = words.length === 0 ? "'*:file:_files'" : `'1:action:(${words.join(' ')})' '*:file:_files'`;
    const lines = [...options.flatMap(optionSpecs), operand].map((spec) => `        ${spec} \\\n`);
    return `    ${name})\n      _arguments -s \\\n${lines.join('').slice(0, -3)}\n      ;;\n`;
  });
  return `#compdef methods
# Completion of "methods" for zsh:  source <(methods completion zsh)
_methods() {
  local -a commands
  commands=(
${described.join('')}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if [[ \${words[2]} == help ]]; then
    (( CURRENT == 3 )) && _describe command commands
    return
  fi
  local command=\${words[2]}
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('')}  esac
}
if [[ "$funcstack[1]" == _methods ]]; then
  _methods "$@"
else
  compdef _methods methods
fi
`;
}

function optionSpecs({ long, short, takesValue, help }: CompletionOption): string[] {
  const told = help.replaceAll('\\', '\\\\').replaceAll('[', '\\[').replaceAll(']', '\\]').replaceAll(':', '\\:');
  const value = takesValue ? ':value:_files' : '';
  return [long, ...(short === null ? [] : [short])].map((spelling) => shellQuote(`${spelling}[${told}]${value}`));
}
