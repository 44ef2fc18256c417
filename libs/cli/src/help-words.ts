// The words and help of commands whose code takes long to load, so that help and completion load none of it.
import { AGENT_APPS } from './agents/agent-apps.ts';
import { COMMENT_OPTION } from './answer/answer-comment.ts';
import { SERVER_OPTIONS } from './chosen-server/open-server.ts';
import type { CommandHelp } from './command/command-words.ts';
import { ENV_FILE, KEY_VARIABLE } from './connect/env-file.ts';
import { LINK_FILE } from './link/link-file.ts';
import { PAGE_OPTIONS } from './server/page.ts';
import { UPLOAD_OPTIONS } from './upload/saved-version.ts';

const FILES_MAX = 1000;

export const CHECK_WORDS: CommandHelp = {
  name: 'check',
  usage: 'FILE… [--strict]',
  summary: 'Check methods and show each fault with its position',
  options: { strict: { help: 'exit with 3 when there are warnings' } },
  operands: { min: 1, max: FILES_MAX, word: 'FILE' },
  examples: ['methods check refund-order.method', 'methods check --strict --json methods/*.method'],
};

export const RUN_WORDS: CommandHelp = {
  name: 'run',
  usage: 'FILE [--inputs JSON|@FILE] [--inputs NAME=@FILE]... [--human FILE] [--upload]  |  --resume RUN_ID [--upload]',
  summary: 'Run a method on this machine, without a server',
  details: [
    'Secrets come from the environment. The run is kept in .methods/runs/RUN_ID. A question without an answer in',
    '--human is asked on the terminal; without one the run waits, and the exit code is 4. A record that no server has',
    'taken is kept; --resume RUN_ID --upload sends it, even after the run has ended.',
  ],
  options: {
    inputs: {
      value: 'JSON|@FILE|NAME=@FILE',
      help: 'the inputs; @- reads them from standard input; NAME=@FILE is a file for an input, again for another',
      many: true,
    },
    human: { value: 'FILE', help: 'answers by step, as YAML or JSON: approval: { decision: approve }' },
    ...UPLOAD_OPTIONS,
    ...SERVER_OPTIONS,
    resume: { value: 'RUN_ID', help: 'continue a run that was interrupted, killed or waits' },
  },
  operands: { min: 0, max: 1, word: 'FILE' },
  examples: [
    'methods run refund-order.method --inputs \'{"order_id": "ord_1", "amount": 20}\'',
    'methods run refund-order.method --inputs @inputs.json --human answers.yaml --json',
  ],
};

export const TEST_WORDS: CommandHelp = {
  name: 'test',
  usage: 'FILE… [--only NAME] [--coverage]',
  summary: "Run a method's own tests",
  details: ['Code is executed; the test mocks http, call and wait steps and answers ask steps.'],
  options: {
    only: { value: 'NAME', help: 'run the test of this name' },
    coverage: { help: 'list the steps and checks that no test reached' },
  },
  operands: { min: 1, max: FILES_MAX, word: 'FILE' },
  examples: [
    'methods test refund-order.method --coverage',
    'methods test refund-order.method --only "a rejected refund does nothing"',
  ],
};

export const UPGRADE_WORDS: CommandHelp = {
  name: 'upgrade',
  usage: 'FILE [--write]',
  summary: 'Turn a workflow/1 file into method/2',
  details: ['Prints the new text, or writes it with --write. Exits with 3 if a person should review it.'],
  options: { write: { help: 'write the new text to FILE' } },
  operands: { min: 1, max: 1, word: 'FILE' },
  examples: ['methods upgrade weekly-report.method', 'methods upgrade weekly-report.method --write'],
};

export const IMPORT_WORDS: CommandHelp = {
  name: 'import',
  usage: 'RECORDING [-o FILE] [--name NAME] [--upload]',
  summary: 'Draft a method from a recording (HAR or Chrome Recorder)',
  details: [
    'Prints the draft, or writes it with -o. Recorded passwords and tokens are not kept: they become secrets.',
    'Review the draft; its first lines say what was left out. Nothing is sent anywhere, unless --upload lets the server',
    'keep the recording and make a method of it; the same recording again is the same method.',
  ],
  options: {
    output: { value: 'FILE', short: 'o', help: 'write the draft to FILE, which must not be there yet' },
    name: { value: 'NAME', help: "words for the method's name, instead of the recording's" },
    upload: { help: 'send the recording to the server, which makes a method of it' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'RECORDING' },
  examples: ['methods import checkout.har -o checkout.method', 'methods import recording.json --name "Weekly report"'],
};

export const SAVE_WORDS: CommandHelp = {
  name: 'save',
  usage: 'FILE [--reason TEXT] [--onto VERSION] [--server URL]',
  summary: 'Save a file as a method, and later as its versions',
  details: [
    `The first save makes the method; ${LINK_FILE} beside the file records it and your base version.`,
    'It contains no secret: commit it. After a time-out, save again: nothing is created twice.',
  ],
  options: {
    reason: { value: 'TEXT', help: 'the reason, shown in the list of versions' },
    onto: { value: 'VERSION', help: 'save on top of this version, after you merged its change into the file' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'FILE' },
  examples: ['methods save refund-order.method', 'methods save refund-order.method --reason "Ask above 100"'],
};

export const CONNECT_WORDS: CommandHelp = {
  name: 'connect',
  usage: 'APP_PATH [--method FILE|METHOD] [--replace] [--server URL]',
  summary: 'Let an app start a method: a key in its .env, and the code to paste',
  details: [
    `Makes a key named after the app's folder and writes ${KEY_VARIABLE} to the app's ${ENV_FILE}, without showing it.`,
    `Keeps ${ENV_FILE} out of git, and publishes the method's file if no version is published. May be repeated.`,
  ],
  options: {
    method: { value: 'FILE', help: 'the method; default the only *.method file here, or in the app' },
    replace: { help: `put a new key in the place of the ${KEY_VARIABLE} that is there` },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'APP_PATH' },
  examples: ['methods connect ../shop --method refund-order.method', 'methods connect . --replace'],
};

export const START_WORDS: CommandHelp = {
  name: 'start',
  usage:
    'METHOD [--inputs JSON|@FILE] [--inputs NAME=@FILE]... [--from FILE] [--wait] [--key IDEMPOTENCY_KEY] [--version V] [--server URL]',
  summary: 'Start a run of a published method on the server',
  details: [
    'METHOD is an id (wf_…), a saved file or a display name. With --wait the run is shown until it has finished or',
    'waits for an answer (exit code 4). The same --key and values start one run, however often they are sent.',
    'With --from each line of FILE, a JSON object, is the inputs of a run; equal lines are as many runs. The id of each run',
    'is printed in the order of the lines, what is refused on stderr with its line (exit code 1). A repeated command starts',
    'only what has not started yet, by the inputs of the lines; another --key starts all lines again.',
  ],
  options: {
    inputs: {
      value: 'JSON|@FILE|NAME=@FILE',
      help: 'the inputs; @- reads them from standard input; NAME=@FILE sends a file for an input, again for another',
      many: true,
    },
    from: { value: 'FILE', help: 'start a run for each line of inputs; - reads them from standard input' },
    wait: { help: 'watch the run and print its result' },
    key: { value: 'IDEMPOTENCY_KEY', help: '8 to 200 characters; default: a new one' },
    version: { value: 'V', help: 'a version id, ver_…; default: the published one' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'METHOD' },
  examples: [
    'methods start refund-order.method --inputs \'{"order_id": "ord_1", "amount": 20}\' --wait',
    'methods start refund-order.method --from refunds.ndjson --key refunds-may',
  ],
};

export const RUN_STATUSES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'];

const ENDPOINT_ACTIONS = ['list', 'create', 'rotate', 'pause', 'resume', 'delete', 'deliveries', 'resend'];
const RUN_ACTIONS = ['list', 'show', 'watch', 'cancel', 'rerun'];

export const RUNS_WORDS: CommandHelp = {
  name: 'runs',
  usage:
    'list [--status S] [--method METHOD] [--kind K] | show ID | watch ID | cancel ID | rerun ID [--from-step STEP] [--wait]',
  summary: 'List, show, watch, cancel and repeat runs on the server',
  details: [
    'watch ends when the run has finished or waits for an answer (exit code 4). rerun starts a new run with the same',
    'version and inputs; with --from-step it keeps the results of the steps before that one. A run that has failed and whose',
    'on_failure or finally has yet to run is "to clean up" until a worker takes it, then "cleaning up".',
  ],
  options: {
    status: { value: 'STATUS', help: `list: only ${RUN_STATUSES.slice(0, -1).join(', ')} or cancelled ones` },
    method: { value: 'METHOD', help: 'list: only runs of this method: an id, a saved file or a display name' },
    kind: { value: 'KIND', help: "list: production (default), or local for records of runs on people's computers" },
    ...PAGE_OPTIONS,
    'from-step': { value: 'STEP', help: 'rerun: begin at this step, which is not inside another one' },
    wait: { help: 'rerun: watch the new run' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 2, word: 'list, show, watch, cancel or rerun', choices: RUN_ACTIONS },
  examples: ['methods runs list --status failed', 'methods runs watch run_01kf3p7c5m8x2q9t4v6w0y1z2a'],
};

export const ENDPOINT_EVENTS = [
  'needs_input',
  'question.reminded',
  'question.escalated',
  'succeeded',
  'failed',
  'cancelled',
];

export const ENDPOINTS_WORDS: CommandHelp = {
  name: 'endpoints',
  usage:
    'list | create --name NAME --url URL [--format F] [--event E]… | rotate ID [--overlap TIME] | pause ID | resume ID | delete ID | deliveries [--status S] | resend [ID…] [--status S]',
  summary: 'Send the events of all runs to webhooks and chats',
  details: [
    'create makes an endpoint and prints the secret that signs its webhooks, once; a chat has none. Without --event a',
    'webhook gets every event, and a chat questions and failures. rotate gives it a new secret, while the earlier one signs',
    'too for a day, or for --overlap. deliveries lists what was sent with the last answer, and resend sends it again: by ids',
    'of deliveries, or all of a status. Admins only, but for deliveries and resend.',
  ],
  options: {
    name: { value: 'NAME', help: 'create: of the new endpoint, without @' },
    url: { value: 'URL', help: 'create: where it leads; that of a chat is a secret' },
    format: { value: 'FORMAT', help: 'create: webhook (default), slack or teams' },
    event: { value: 'EVENT', many: true, help: `create: ${ENDPOINT_EVENTS.slice(0, -1).join(', ')} or cancelled` },
    overlap: { value: 'TIME', help: 'rotate: how long earlier secrets sign too, such as 2h; at most 7d' },
    status: { value: 'STATUS', help: 'deliveries, resend: pending, delivered, exhausted or stopped' },
    endpoint: { value: 'ENDPOINT_ID', help: 'deliveries, resend: only those to it' },
    run: { value: 'RUN_ID', help: 'deliveries: only those of this run' },
    ...PAGE_OPTIONS,
    ...SERVER_OPTIONS,
  },
  operands: {
    min: 1,
    max: 201,
    word: 'list, create, rotate, pause, resume, delete, deliveries or resend',
    choices: ENDPOINT_ACTIONS,
  },
  examples: [
    'methods endpoints create --name "On call" --url https://hooks.example.com/methods --event failed',
    'methods endpoints resend --status exhausted',
  ],
};

export const MCP_WORDS: CommandHelp = {
  name: 'mcp',
  usage: 'CLIENT [--write] [--bridge] [--name NAME] | login [--device] [--audience AUDIENCE] | bridge [--server URL]',
  summary: "Connect agents to the server's methods: write their configuration, bridge to them",
  details: [
    `CLIENT is ${AGENT_APPS.slice(0, -1).join(', ')} or ${AGENT_APPS.at(-1)}. What its program needs to find the server is printed,`,
    'or with --write set in its file, where all else stays as it is. Most programs sign in by themselves; with --bridge,',
    'and always in Claude Desktop, the program starts  methods mcp bridge,  which carries messages of standard input and',
    'output to the server. The bridge uses a sign-in of its own, made by login, or the developer of a local stack.',
  ],
  options: {
    write: { help: "CLIENT: write the program's file" },
    bridge: { help: 'CLIENT: by the bridge, for a program that cannot sign in' },
    name: { value: 'NAME', help: 'CLIENT: the name of the server there; default methods' },
    device: { help: 'login: show a code to enter in the browser of another machine' },
    audience: {
      value: 'AUDIENCE',
      help: 'login, bridge: the audience of tokens, if it is not an address of the server',
    },
    ...SERVER_OPTIONS,
  },
  operands: {
    min: 1,
    max: 1,
    word: `${AGENT_APPS.join(', ')}, login or bridge`,
    choices: [...AGENT_APPS, 'login', 'bridge'],
  },
  examples: [
    'methods mcp claude-code --write',
    'methods mcp claude-desktop --write --server https://methods.example.com',
  ],
};

export const ANSWER_WORDS: CommandHelp = {
  name: 'answer',
  usage: 'RUN_ID [--answer JSON|@FILE] [--comment TEXT] [--wait] [--server URL]',
  summary: 'Answer the question of a waiting run, and continue it',
  details: [
    'Looks for the run in .methods/runs, then on the server. Without --answer the question is asked on the terminal,',
    'field by field, longer texts in $EDITOR; without a terminal it is shown, and the run keeps waiting. With --wait a',
    'run on a server is then shown until it has finished or waits for the next answer (exit code 4), as a local one is.',
  ],
  options: {
    answer: { value: 'JSON|@FILE', help: 'the answer, an object that fits the form of the question' },
    ...COMMENT_OPTION,
    wait: { help: 'watch the run on the server after the answer and print its result' },
    ...UPLOAD_OPTIONS,
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'RUN_ID' },
  examples: [
    'methods answer run_01kf3p7c5m8x2q9t4v6w0y1z2a',
    'methods answer run_01kf3p7c5m8x2q9t4v6w0y1z2a --answer \'{"decision": "approve"}\'',
  ],
};

const INBOX_ACTIONS = ['list', 'show', 'answer', 'assign', 'delegate'];

export const INBOX_WORDS: CommandHelp = {
  name: 'inbox',
  usage:
    '[list] [--mine|--unassigned|--assignee WHO] [--method METHOD] [--due SPAN] | show ID | answer ID [--answer JSON|@FILE] [--comment TEXT] | assign ID WHO | delegate ID WHO',
  summary: 'List, answer, assign and delegate the open questions of runs',
  details: [
    'Lists the questions for the team, the newest first; with --due the first due first. WHO is me, the id of a member',
    '(usr_…) or their address. assign gives a question to one who may answer it, or to no-one; delegate also lets a member',
    'answer it whom it does not ask. Without --answer the question is asked on the terminal, as by methods answer; without',
    'a terminal it is shown (exit code 4).',
  ],
  options: {
    mine: { help: 'list: only those given to you, or asked of your address only' },
    unassigned: { help: 'list: only those given to no one' },
    assignee: { value: 'WHO', help: 'list: only those given to this person: an id or an address' },
    method: { value: 'METHOD', help: 'list: only questions of this method: an id, a saved file or a display name' },
    due: { value: 'SPAN', help: 'list: only those due within this time, such as 8h or 2d' },
    'answer-by': { value: 'W', help: 'list: team (default), application for those that applications answer, or all' },
    ...PAGE_OPTIONS,
    answer: { value: 'JSON|@FILE', help: 'answer: an object that fits the form of the question' },
    comment: { value: 'TEXT', help: 'answer: kept with the answer, for people' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 0, max: 3, word: 'list, show, answer, assign or delegate', choices: INBOX_ACTIONS },
  examples: [
    'methods inbox --mine',
    'methods inbox answer q_01kf3p7c5m8x2q9t4v6w0y1z2a --answer \'{"decision": "approve"}\' --comment "As agreed."',
  ],
};

export const TYPES_WORDS: CommandHelp = {
  name: 'types',
  usage: 'METHOD|FILE [-o FILE] [--python] [--version VERSION] [--server URL]',
  summary: "Write types of a method's inputs, result and answers",
  details: [
    'A FILE needs no server; a METHOD is read in its published version, or the current one if none is published.',
    'The types of a METHOD also add it to the interface MethodTypes of @methods/client, by its id: calls of the client',
    'are then typed. With --python they are TypedDicts for Python 3.9 and newer.',
  ],
  options: {
    output: { value: 'FILE', short: 'o', help: 'write here instead of stdout' },
    python: { help: 'types for Python instead of TypeScript' },
    version: { value: 'VERSION', help: 'ver_…, published or current' },
    ...SERVER_OPTIONS,
  },
  operands: { min: 1, max: 1, word: 'METHOD or a FILE' },
  examples: [
    'methods types wf_01kac0t6xgy9s2m4n8p3q5r7v1 -o src/refund-order.d.ts',
    'methods types refund-order.method --python -o refund_order.py',
  ],
};
