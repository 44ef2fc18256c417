// The commands by name, in the order of the help. Each is loaded when it is called: a check needs no executor.
import type { Command } from './command/command.ts';

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'new',
    summary: 'Write a commented method to start from',
    load: async () => (await import('./new/new-command.ts')).newCommand,
  },
  {
    name: 'check',
    summary: 'Check methods and show what is wrong, with the place',
    load: async () => (await import('./check/check-command.ts')).checkCommand,
  },
  {
    name: 'run',
    summary: 'Run a method on this machine, without a server',
    load: async () => (await import('./run/run-command.ts')).runCommand,
  },
  {
    name: 'answer',
    summary: 'Answer the question of a run that waits, and go on with it',
    load: async () => (await import('./answer/answer-command.ts')).answerCommand,
  },
  {
    name: 'test',
    summary: "Run a method's own tests",
    load: async () => (await import('./test/test-command.ts')).testCommand,
  },
  {
    name: 'upgrade',
    summary: 'Turn a workflow/1 file into method/2',
    load: async () => (await import('./upgrade/upgrade-command.ts')).upgradeCommand,
  },
  {
    name: 'import',
    summary: 'Draft a method from a recording (HAR or Chrome Recorder)',
    load: async () => (await import('./import/import-command.ts')).importCommand,
  },
  {
    name: 'editor-setup',
    summary: 'Let the editor complete and check *.method files in this folder',
    load: async () => (await import('./editor-setup/editor-setup-command.ts')).editorSetupCommand,
  },
];
