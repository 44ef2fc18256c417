// The words of all commands, and the scripts that let bash (from version 3.2 on), zsh and fish complete them, using only
// built-in features.
import type { Command, Option } from 'commander';
import { describe, type ListedCommand, programTree } from '../command/program-tree.ts';

interface CompletionWords {
  readonly name: string;
  readonly summary: string;
  /** The words that its first operand may be, if these are fixed: `create` of `keys`. */
  readonly words: readonly string[];
  readonly options: readonly CompletionOption[];
}

interface CompletionOption {
  /** `--name`. */
  readonly long: string;
  /** `-n`. */
  readonly short: string | null;
  readonly takesValue: boolean;
  readonly help: string;
}

/** Loads the words of every command. */
export async function completionWords(commands: readonly ListedCommand[]): Promise<CompletionWords[]> {
  const tree = programTree(commands);
  const described = commands.map(async ({ name, words, load }) => {
    const command = tree.commands.find((known) => known.name() === name);
    if (command !== undefined) describe(command, await (words ?? load)());
  });
  await Promise.all(described);
  return tree.commands.map((command) => ({
    name: command.name(),
    summary: command.summary(),
    words: command.registeredArguments[0]?.argChoices ?? [],
    options: optionsOf(command),
  }));
}

/** Includes `--help`, which is not among a command's own options. */
function optionsOf(command: Command): CompletionOption[] {
  return command.createHelp().visibleOptions(command).map(completionOption);
}

function completionOption({ long, short, required, description }: Option): CompletionOption {
  return { long: long ?? '', short: short ?? null, takesValue: required, help: description };
}

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

/** Completion for fish, with the purpose of each command and option. */
export function fishScript(commands: readonly CompletionWords[]): string {
  const names = commands.map(({ name }) => name);
  const lines = [
    '# Completion of "methods" for fish:  methods completion fish | source',
    '# The words before the cursor number $argv[1], and the command is one of the others.',
    'function __methods_at',
    '    set -l words (commandline -opc)',
    '    test (count $words) -eq $argv[1]; or return 1',
    '    test (count $argv) -eq 1; or contains -- "$words[2]" $argv[2..-1]',
    'end',
    'function __methods_of',
    '    set -l words (commandline -opc)',
    '    test (count $words) -ge 2; and test "$words[2]" = $argv[1]',
    'end',
    'complete -c methods -e',
    "complete -c methods -n '__methods_at 1' -f -l help -s h -d 'show the commands'",
    "complete -c methods -n '__methods_at 1' -f -a help -d 'show the help of a command'",
    `complete -c methods -n '__methods_at 2 help' -f -a ${quoted(names.join(' '))}`,
  ];
  for (const { name, summary, words, options } of commands) {
    lines.push(`complete -c methods -n '__methods_at 1' -f -a ${name} -d ${quoted(summary)}`);
    if (words.length > 0) {
      lines.push(`complete -c methods -n '__methods_at 2 ${name}' -f -a ${quoted(words.join(' '))}`);
    }
    for (const { long, short, takesValue, help } of options) {
      const spellings = `-l ${long.slice(2)}${short === null ? '' : ` -s ${short.slice(1)}`}`;
      const value = takesValue ? ' -r' : '';
      lines.push(`complete -c methods -n '__methods_of ${name}' ${spellings}${value} -d ${quoted(help)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

// Within single quotes fish knows two escapes.
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** Completion for zsh, with the purpose of each command and option. */
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
  const given = help.replaceAll('\\', '\\\\').replaceAll('[', '\\[').replaceAll(']', '\\]').replaceAll(':', '\\:');
  const value = takesValue ? ':value:_files' : '';
  return [long, ...(short === null ? [] : [short])].map((spelling) => shellQuote(`${spelling}[${given}]${value}`));
}
