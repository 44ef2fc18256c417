// `methods completion`: prints the script that lets a shell complete the command line.
import type { Command } from '../command/command.ts';
import type { ListedCommand } from '../command/program-tree.ts';
import { EXIT, UsageError } from '../errors/command-error.ts';
import { bashScript, completionWords, fishScript, zshScript } from './shell-scripts.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

/** For all commands of the program, including this one. */
export function completionCommand(commands: readonly ListedCommand[]): Command {
  return {
    name: 'completion',
    usage: 'bash | zsh | fish',
    summary: 'Print a script that completes commands and options in the shell',
    details: [
      'bash: source <(methods completion bash)          in ~/.bashrc',
      'zsh:  source <(methods completion zsh)           in ~/.zshrc, after compinit',
      'fish: methods completion fish | source           in ~/.config/fish/config.fish',
    ],
    options: {},
    operands: { min: 1, max: 1, word: 'shell: bash, zsh or fish', choices: Object.keys(SCRIPTS) },
    examples: ['methods completion bash > ~/.methods-completion.bash', 'source <(methods completion zsh)'],

    async run(line, { output }) {
      const [shell = ''] = line.operands;
      const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell as keyof typeof SCRIPTS] : undefined;
      if (script === undefined) throw new UsageError(`there is no completion for "${shell}"`, 'bash, zsh or fish');
      const text = script(await completionWords(commands));
      output.document({ shell, script: text });
      output.result(text.trimEnd());
      return EXIT.done;
    },
  };
}
