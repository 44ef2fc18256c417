// Completion for fish, with what each command and option is for.
import type { CompletionWords } from './completion-words.ts';

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
