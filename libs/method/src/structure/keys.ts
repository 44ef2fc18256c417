// Owns the tables of keys: the keys of the language, those that are built, and the words of other languages for them.

/** Keys of one kind of mapping. */
export interface KeyTable {
  /** The mapping in a message: "in a step". */
  readonly what: string;
  readonly keys: readonly string[];
  /** Keys of the language that are not built yet (M113 rather than M101). */
  readonly later?: ReadonlySet<string>;
  /** Other languages' words to the key of this table. */
  readonly foreign: ReadonlyMap<string, string>;
  /** Keys starting `x-` are ignored here. */
  readonly extensible: boolean;
}

const words = (text: string): string[] => text.split(' ');
const foreign = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table));

export const KINDS = [
  'node',
  'python',
  'shell',
  'http',
  'ask',
  'call',
  'wait',
  'check',
  'steps',
  'parallel',
  'browser',
  'agent',
] as const;
export const VERBS = ['get', 'post', 'put', 'patch', 'delete', 'head'] as const;
export const BODIES = ['json', 'form', 'text', 'file'] as const;

export const METHOD_KEYS: KeyTable = {
  what: 'the method',
  keys: words(
    'format name title description inputs types secrets dependencies lib limits require steps ensure on_failure finally result tests',
  ),
  foreign: foreign({
    params: 'inputs',
    parameters: 'inputs',
    input: 'inputs',
    arguments: 'inputs',
    env: 'secrets',
    environment: 'secrets',
    outputs: 'result',
    output: 'result',
    out: 'result',
    returns: 'result',
    jobs: 'steps',
    tasks: 'steps',
    timeout: 'limits',
    timeout_ms: 'limits',
    version: 'format',
    id: 'name',
    definitions: 'types',
    schemas: 'types',
    deps: 'dependencies',
    requirements: 'dependencies',
    catch: 'on_failure',
    rollback: 'on_failure',
    always: 'finally',
  }),
  extensible: true,
};

export const STEP_KEYS: KeyTable = {
  what: 'a step',
  keys: [
    ...words('name title description if each as at_once repeat in out secrets require ensure retry limits'),
    ...words('on_error on_interrupt stdout result'),
    ...KINDS,
  ],
  foreign: foreign({
    id: 'name',
    when: 'if',
    condition: 'if',
    unless: 'if',
    with: 'in',
    input: 'in',
    inputs: 'in',
    args: 'in',
    params: 'in',
    output: 'out',
    outputs: 'out',
    outs: 'out',
    returns: 'out',
    env: 'secrets',
    timeout: 'limits',
    timeout_ms: 'limits',
    run: 'shell',
    bash: 'shell',
    sh: 'shell',
    script: 'shell',
    js: 'node',
    javascript: 'node',
    typescript: 'node',
    code: 'node',
    py: 'python',
    request: 'http',
    fetch: 'http',
    human: 'ask',
    prompt: 'ask',
    approve: 'ask',
    approval: 'ask',
    uses: 'call',
    workflow: 'call',
    sleep: 'wait',
    delay: 'wait',
    foreach: 'each',
    for_each: 'each',
    loop: 'each',
    matrix: 'each',
    concurrency: 'at_once',
    while: 'repeat',
    until: 'repeat',
    retries: 'retry',
    attempts: 'retry',
    assert: 'ensure',
    checks: 'ensure',
    pre: 'require',
    post: 'ensure',
    group: 'steps',
    do: 'steps',
    branches: 'parallel',
    item: 'as',
    network: 'limits',
    continue_on_error: 'on_error',
  }),
  extensible: true,
};

export const HTTP_KEYS: KeyTable = {
  what: 'http',
  keys: [...VERBS, ...words('query headers auth accept take'), ...BODIES],
  foreign: foreign({
    url: 'get',
    uri: 'get',
    method: 'get',
    body: 'json',
    data: 'json',
    params: 'query',
    header: 'headers',
    authorization: 'auth',
    extract: 'take',
    capture: 'take',
    status: 'accept',
  }),
  extensible: true,
};

/** The keys of ask for who answers and when. */
export const POLICY_KEYS = ['to', 'not_starter', 'needs', 'remind', 'escalate', 'on_timeout'] as const;

export const ASK_KEYS: KeyTable = {
  what: 'ask',
  keys: [...words('question details show'), ...POLICY_KEYS],
  foreign: foreign({
    text: 'question',
    prompt: 'question',
    message: 'question',
    title: 'question',
    description: 'details',
    context: 'show',
    display: 'show',
    approvers: 'to',
    answerers: 'to',
    assignee: 'to',
    assignees: 'to',
    recipients: 'to',
    reviewers: 'to',
    four_eyes: 'not_starter',
    not_self: 'not_starter',
    approvals: 'needs',
    quorum: 'needs',
    votes: 'needs',
    reminders: 'remind',
    escalation: 'escalate',
    expired: 'on_timeout',
    timeout: 'limits',
  }),
  extensible: true,
};

export const NEEDS_KEYS: KeyTable = {
  what: 'needs',
  keys: words('count on'),
  foreign: foreign({ people: 'count', number: 'count', fields: 'on', same: 'on' }),
  extensible: false,
};

export const ESCALATE_KEYS: KeyTable = {
  what: 'escalate',
  keys: words('after to'),
  foreign: foreign({ delay: 'after', timeout: 'after', recipients: 'to' }),
  extensible: false,
};

export const TIMEOUT_KEYS: KeyTable = {
  what: 'on_timeout',
  keys: words('answer'),
  foreign: foreign({ default: 'answer', value: 'answer', out: 'answer' }),
  extensible: false,
};

export const AUTH_KEYS: KeyTable = {
  what: 'auth',
  keys: words('bearer basic header secret'),
  foreign: foreign({
    token: 'bearer',
    oauth: 'bearer',
    api_key: 'header',
    key: 'secret',
    password: 'basic',
    user: 'basic',
    username: 'basic',
  }),
  extensible: false,
};

const STEP_LIMITS = words('timeout timeout_ms memory_mb output_kb log_kb files_mb network');

export const STEP_LIMIT_KEYS: KeyTable = {
  what: 'limits',
  keys: STEP_LIMITS,
  foreign: foreign({
    memory: 'memory_mb',
    ram: 'memory_mb',
    output: 'output_kb',
    log: 'log_kb',
    files: 'files_mb',
    deadline: 'timeout',
  }),
  extensible: false,
};

export const METHOD_LIMIT_KEYS: KeyTable = {
  ...STEP_LIMIT_KEYS,
  keys: [...STEP_LIMITS, 'run_timeout', 'max_steps'],
};

export const REPEAT_KEYS: KeyTable = {
  what: 'repeat',
  keys: words('until max delay'),
  foreign: foreign({
    while: 'until',
    condition: 'until',
    if: 'until',
    times: 'max',
    count: 'max',
    limit: 'max',
    max_rounds: 'max',
    wait: 'delay',
    sleep: 'delay',
    interval: 'delay',
    every: 'delay',
  }),
  extensible: true,
};

export const RETRY_KEYS: KeyTable = {
  what: 'retry',
  keys: words('max delay factor max_delay if'),
  foreign: foreign({
    times: 'max',
    count: 'max',
    attempts: 'max',
    max_attempts: 'max',
    retries: 'max',
    wait: 'delay',
    interval: 'delay',
    backoff: 'factor',
    multiplier: 'factor',
    max_interval: 'max_delay',
    when: 'if',
    on: 'if',
  }),
  extensible: true,
};

export const CHECK_KEYS: KeyTable = {
  what: 'a check',
  keys: words('name that level message'),
  foreign: foreign({
    if: 'that',
    condition: 'that',
    expression: 'that',
    assert: 'that',
    test: 'that',
    title: 'name',
    severity: 'level',
    text: 'message',
    error: 'message',
  }),
  extensible: true,
};

export const WAIT_KEYS: KeyTable = {
  what: 'wait',
  keys: ['until'],
  foreign: foreign({ for: 'until', time: 'until', at: 'until' }),
  extensible: true,
};

export const BROWSER_KEYS: KeyTable = {
  what: 'browser',
  keys: words('start do'),
  foreign: foreign({ url: 'start', goto: 'start', steps: 'do', actions: 'do' }),
  extensible: true,
};

export const AGENT_KEYS: KeyTable = {
  what: 'agent',
  keys: words('goal tools max_turns'),
  foreign: foreign({ prompt: 'goal', task: 'goal', turns: 'max_turns', max_steps: 'max_turns' }),
  extensible: true,
};
