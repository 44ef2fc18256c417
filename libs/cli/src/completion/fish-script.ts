// Completion for fish, with what each command and option is for.
import type { CompletionWords } from './completion-words.ts';

export function fishScript(commands: readonly CompletionWords[]): string {
  const lines = ['# Completion of "methods" for fish:  methods completion fish | source', 'complete -c methods -e'];
  for (const { name, summary, words, options } of commands) {
    lines.push(`complete -c methods -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`);
    const seen = `-n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
    if (words.length > 0) {
      const first = `-n ${quoted(`__fish_seen_subcommand_from ${name}; and test (count (commandline -opc)) -eq 2`)}`;
      lines.push(`complete -c methods ${first} -f -a ${quoted(words.join(' '))}`);
    }
    for (const { long, short, takesValue, help } of options) {
      const spellings = `-l ${long.slice(2)}${short === null ? '' : ` -s ${short.slice(1)}`}`;
      lines.push(`complete -c methods ${seen} ${spellings}${takesValue ? ' -r' : ''} -d ${quoted(help)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

// Within single quotes fish knows two escapes.
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
