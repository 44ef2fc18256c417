// The commands by name, in the order of the help. Each is loaded when it is called: a check needs no executor.
import type { Command } from './command/command.ts';
import type { ListedCommand } from './command/program-tree.ts';

export interface CommandEntry extends ListedCommand {
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
    summary: 'Check methods and show each fault with its position',
    words: async () => (await import('./help-words.ts')).CHECK_WORDS,
    load: async () => (await import('./commands/check-command.ts')).checkCommand,
  },
  {
    name: 'run',
    summary: 'Run a method on this machine, without a server',
    words: async () => (await import('./help-words.ts')).RUN_WORDS,
    load: async () => (await import('./run/run-command.ts')).runCommand,
  },
  {
    name: 'test',
    summary: "Run a method's own tests",
    words: async () => (await import('./help-words.ts')).TEST_WORDS,
    load: async () => (await import('./test/test-command.ts')).testCommand,
  },
  {
    name: 'upgrade',
    summary: 'Turn a workflow/1 file into method/2',
    words: async () => (await import('./help-words.ts')).UPGRADE_WORDS,
    load: async () => (await import('./commands/upgrade-command.ts')).upgradeCommand,
  },
  {
    name: 'import',
    summary: 'Draft a method from a recording (HAR or Chrome Recorder)',
    words: async () => (await import('./help-words.ts')).IMPORT_WORDS,
    load: async () => (await import('./import/import-command.ts')).importCommand,
  },
  {
    name: 'editor-setup',
    summary: 'Let the editor complete and check *.method files in this folder',
    load: async () => (await import('./commands/editor-setup-command.ts')).editorSetupCommand,
  },
  {
    name: 'login',
    summary: 'Sign in to a server with a browser',
    load: async () => (await import('./commands/sign-in-commands.ts')).loginCommand,
  },
  {
    name: 'logout',
    summary: 'Sign out: revoke and delete the sign-in',
    load: async () => (await import('./commands/sign-in-commands.ts')).logoutCommand,
  },
  {
    name: 'whoami',
    summary: 'Show who is signed in, in which organization and role',
    load: async () => (await import('./commands/sign-in-commands.ts')).whoamiCommand,
  },
  {
    name: 'save',
    summary: 'Save a file as a method, and later as its versions',
    words: async () => (await import('./help-words.ts')).SAVE_WORDS,
    load: async () => (await import('./save/save-command.ts')).saveCommand,
  },
  {
    name: 'publish',
    summary: 'Publish a saved version, which runs use by default',
    load: async () => (await import('./commands/method-commands.ts')).publishCommand,
  },
  {
    name: 'rename',
    summary: 'Give a method another display name',
    load: async () => (await import('./commands/method-commands.ts')).renameCommand,
  },
  {
    name: 'list',
    summary: 'List the methods of the organization',
    load: async () => (await import('./commands/list-command.ts')).listCommand,
  },
  {
    name: 'show',
    summary: 'Show a method: its state, its versions, and what it takes',
    load: async () => (await import('./commands/show-command.ts')).showCommand,
  },
  {
    name: 'source',
    summary: 'Print the exact text of a saved version',
    load: async () => (await import('./commands/version-commands.ts')).sourceCommand,
  },
  {
    name: 'versions',
    summary: "List a method's versions, newest first",
    load: async () => (await import('./commands/version-commands.ts')).versionsCommand,
  },
  {
    name: 'diff',
    summary: 'Show what changed between two versions',
    load: async () => (await import('./commands/version-commands.ts')).diffCommand,
  },
  {
    name: 'keys',
    summary: 'Make, list, rotate and revoke service keys',
    load: async () => (await import('./keys/keys-command.ts')).keysCommand,
  },
  {
    name: 'endpoints',
    summary: 'Send the events of all runs to webhooks and chats',
    words: async () => (await import('./help-words.ts')).ENDPOINTS_WORDS,
    load: async () => (await import('./endpoints/endpoints-command.ts')).endpointsCommand,
  },
  {
    name: 'offer',
    summary: 'Offer a published method to agents as a tool of its own',
    load: async () => (await import('./commands/method-commands.ts')).offerCommand,
  },
  {
    name: 'mcp',
    summary: "Connect agents to the server's methods: write their configuration, bridge to them",
    words: async () => (await import('./help-words.ts')).MCP_WORDS,
    load: async () => (await import('./agents/mcp-command.ts')).mcpCommand,
  },
  {
    name: 'connect',
    summary: 'Let an app start a method: a key in its .env, and the code',
    words: async () => (await import('./help-words.ts')).CONNECT_WORDS,
    load: async () => (await import('./connect/connect-command.ts')).connectCommand,
  },
  {
    name: 'worker',
    summary: 'Execute runs of methods on this machine',
    load: async () => (await import('./worker/worker-command.ts')).workerCommand,
  },
  {
    name: 'start',
    summary: 'Start a run of a published method on the server',
    words: async () => (await import('./help-words.ts')).START_WORDS,
    load: async () => (await import('./start/start-command.ts')).startCommand,
  },
  {
    name: 'runs',
    summary: 'List, show, watch, cancel and repeat runs on the server',
    words: async () => (await import('./help-words.ts')).RUNS_WORDS,
    load: async () => (await import('./runs/runs-command.ts')).runsCommand,
  },
  {
    name: 'answer',
    summary: 'Answer the question of a waiting run, and continue it',
    words: async () => (await import('./help-words.ts')).ANSWER_WORDS,
    load: async () => (await import('./answer/answer-command.ts')).answerCommand,
  },
  {
    name: 'inbox',
    summary: 'List, answer, assign and delegate the open questions of runs',
    words: async () => (await import('./help-words.ts')).INBOX_WORDS,
    load: async () => (await import('./inbox/inbox-command.ts')).inboxCommand,
  },
  {
    name: 'types',
    summary: "Write TypeScript types of a method's inputs and result",
    words: async () => (await import('./help-words.ts')).TYPES_WORDS,
    load: async () => (await import('./method-types/types-command.ts')).typesCommand,
  },
  {
    name: 'dev',
    summary: 'Start the whole service on this machine, from a checkout',
    load: async () => (await import('./commands/dev-command.ts')).devCommand,
  },
  {
    name: 'doctor',
    summary: 'Check what this machine needs to run methods and reach the server',
    load: async () => (await import('./doctor/doctor-command.ts')).doctorCommand,
  },
  {
    name: 'completion',
    summary: 'Print a script that completes commands and options in the shell',
    load: async () => (await import('./completion/completion-command.ts')).completionCommand(COMMANDS),
  },
];
