// `methods new`: writes a commented method as a starting point.
import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command, CommandContext } from '../command/command.ts';
import { CommandError, EXIT, UsageError } from '../errors/command-error.ts';
import { reasonOf } from '../method-file/method-file.ts';
import { askLine } from '../terminal/prompt.ts';

/** The starting points, one for each kind of first step. Each is complete: it checks, runs, and passes its test. */
interface Starter {
  readonly kind: string;
  readonly summary: string;
  /** The text for a method of this name. */
  readonly text: (name: string) => string;
}

const head = (name: string) => `# A method: typed inputs, steps that run in order, and a result.
#   methods check ${name}.method     what is wrong with it
#   methods test ${name}.method      its tests, at the end of this file
format: method/2
name: ${name}
`;

const GREETING_INPUTS = `# What a run is started with. \`name?: T\` may be left out, \`= value\` is a default, \`--\` begins a description.
inputs:
  name: string 1..80 = world -- Who to greet
`;

const GREETING_END = `
# A value that begins with = is an expression.
result: { greeting: =steps.greet.greeting }

# Tests run the code; http, call, wait and ask steps are mocked or answered.
tests:
  - name: it greets by name
    inputs: { name: Ann }
    expect: { status: succeeded, result: { greeting: Hello Ann } }
`;

export const STARTERS: readonly Starter[] = [
  {
    kind: 'node',
    summary: 'code in JavaScript',
    text: (name) => `${head(name)}
${GREETING_INPUTS}
steps:
  - name: greet
    # The only values the code sees, as variables; they are never pasted into it.
    in: [inputs.name]
    node: |
      step.log(\`greeting \${name}\`)
      return { greeting: \`Hello \${name}\` }
    # What the step gives. Anything else it returns is dropped.
    out: { greeting: string }
    # Checks judge what came out; a false one fails the step.
    ensure:
      - The greeting is not empty: out.greeting.length > 0
${GREETING_END}`,
  },
  {
    kind: 'python',
    summary: 'code in Python',
    text: (name) => `${head(name)}
${GREETING_INPUTS}
steps:
  - name: greet
    # The only values the code sees, as variables; they are never pasted into it.
    in: [inputs.name]
    python: |
      step.log(f"greeting {name}")
      return {"greeting": f"Hello {name}"}
    # What the step gives. Anything else it returns is dropped.
    out: { greeting: string }
${GREETING_END}`,
  },
  {
    kind: 'shell',
    summary: 'code for bash',
    text: (name) => `${head(name)}
${GREETING_INPUTS}
steps:
  - name: greet
    # The only values the code sees, as environment variables; they are never pasted into it.
    in: [inputs.name]
    shell: printf 'Hello %s' "$name"
    # What is printed becomes this field of the out.
    stdout: greeting
    out: { greeting: string }
${GREETING_END}`,
  },
  {
    kind: 'http',
    summary: 'a request to an API',
    text: (name) => `${head(name)}
inputs:
  order_id: string 1..40 -- Order to look up

# Read from the environment where the method runs: export SHOP_TOKEN=…
secrets:
  SHOP_TOKEN: Shop API, orders read

steps:
  - name: order
    http:
      # Inserted values are percent-encoded.
      get: https://shop.example.com/api/orders/\${inputs.order_id}
      auth: { bearer: SHOP_TOKEN }
    # Tried again after a timeout, a lost connection, or an answer such as 503.
    retry: 3
    # Taken from the JSON body by name.
    out: { total: number, customer: email }
    ensure:
      - The total is not negative: out.total >= 0

result: { total: =steps.order.total }

# Tests never send a request: http steps are mocked.
tests:
  - name: it gives the total
    inputs: { order_id: ord_1 }
    secrets: { SHOP_TOKEN: test-token }
    mock: { order: { total: 80, customer: ann@example.com } }
    expect: { status: succeeded, result: { total: 80 } }
`,
  },
  {
    kind: 'ask',
    summary: 'a question to a person',
    text: (name) => `${head(name)}
inputs:
  amount: number 0.01.. -- Amount in EUR

steps:
  # The run waits, without a process, until it is answered.
  - name: approval
    if: inputs.amount > 100
    ask: Pay \${inputs.amount} EUR?
    # The form of the answer.
    out:
      decision: [approve, reject]
      note?: text ..500 -- Shown to the requester

# A step whose \`if\` was false is null, so what it gives must be read with care.
result:
  approved: =steps.approval == null || steps.approval.decision == "approve"

tests:
  - name: a small amount needs no approval
    inputs: { amount: 20 }
    expect: { status: succeeded, skipped: [approval], result: { approved: true } }
  - name: a person can reject a large one
    inputs: { amount: 500 }
    answers: { approval: { decision: reject } }
    expect: { status: succeeded, result: { approved: false } }
`,
  },
];

const NAME_DEFAULT = 'my-method';
const NAME = /^[a-z][a-z0-9-]{0,62}[a-z0-9]$/;
const KINDS = STARTERS.map(({ kind }) => kind).join(', ');

export const newCommand: Command = {
  name: 'new',
  usage: '[NAME] [--kind KIND]',
  summary: 'Write a commented method to start from',
  details: [`Kinds: ${KINDS}. Asked for on a terminal; node elsewhere.`],
  options: { kind: { value: 'KIND', help: 'what its first step does' } },
  operands: { min: 0, max: 1, word: 'NAME' },
  examples: ['methods new refund-order', 'methods new fetch-orders --kind http'],

  async run(line, context) {
    const { cwd, output } = context;
    const name = (line.operands[0] ?? NAME_DEFAULT).replace(/\.method$/, '');
    if (!NAME.test(name)) {
      throw new UsageError(
        `"${name}" is not a valid method name`,
        '2 to 64 small letters, digits and -, such as my-method',
      );
    }
    const starter = await chooseStarter(line.text('kind'), context);
    const file = `${name}.method`;
    const path = resolve(cwd, file);
    await writeFile(path, starter.text(name), { flag: 'wx' }).catch(async (error: NodeJS.ErrnoException) => {
      // A full disk leaves a file without its text.
      if (error.code !== 'EEXIST') await rm(path, { force: true });
      throw new CommandError('not_written', `cannot write ${file}: ${reasonOf(error)}`);
    });
    output.document({ file, name, kind: starter.kind });
    output.line(`Wrote ${file}. Try:  methods test ${file}`);
    return EXIT.done;
  },
};

async function chooseStarter(given: string | undefined, { output, interrupted }: CommandContext): Promise<Starter> {
  const found = starterOf(given ?? 'node');
  if (given !== undefined || !output.interactive) {
    if (found === undefined) throw new UsageError(`there is no kind "${given}"`, `kinds: ${KINDS}`);
    return found;
  }
  for (const [index, { kind, summary }] of STARTERS.entries()) output.result(`  ${index + 1} ${kind}: ${summary}`);
  for (;;) {
    const typed = await askLine('What does its first step do? (1) ', output, interrupted);
    if (typed === null) throw new UsageError('no kind was chosen', `name one with --kind: ${KINDS}`);
    const starter = STARTERS[Number(typed === '' ? 1 : typed) - 1] ?? starterOf(typed);
    if (starter !== undefined) return starter;
  }
}

function starterOf(kind: string): Starter | undefined {
  return STARTERS.find((starter) => starter.kind === kind);
}
