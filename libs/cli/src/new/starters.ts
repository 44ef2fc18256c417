// The methods to start from, one a kind of first step. Each is whole: it checks, runs, and its test passes.

export interface Starter {
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

const GREETING_TESTS = `
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
# What a run is started with. \`name?: T\` may be left out, \`= value\` is a default, \`--\` begins a description.
inputs:
  name: string 1..80 = world -- Who to greet

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

# A value that begins with = is an expression.
result: { greeting: =steps.greet.greeting }
${GREETING_TESTS}`,
  },
  {
    kind: 'python',
    summary: 'code in Python',
    text: (name) => `${head(name)}
# What a run is started with. \`name?: T\` may be left out, \`= value\` is a default, \`--\` begins a description.
inputs:
  name: string 1..80 = world -- Who to greet

steps:
  - name: greet
    # The only values the code sees, as variables; they are never pasted into it.
    in: [inputs.name]
    python: |
      step.log(f"greeting {name}")
      return {"greeting": f"Hello {name}"}
    # What the step gives. Anything else it returns is dropped.
    out: { greeting: string }

# A value that begins with = is an expression.
result: { greeting: =steps.greet.greeting }
${GREETING_TESTS}`,
  },
  {
    kind: 'shell',
    summary: 'code for bash',
    text: (name) => `${head(name)}
# What a run is started with. \`name?: T\` may be left out, \`= value\` is a default, \`--\` begins a description.
inputs:
  name: string 1..80 = world -- Who to greet

steps:
  - name: greet
    # The only values the code sees, as environment variables; they are never pasted into it.
    in: [inputs.name]
    shell: printf 'Hello %s' "$name"
    # What is printed becomes this field of the out.
    stdout: greeting
    out: { greeting: string }

# A value that begins with = is an expression.
result: { greeting: =steps.greet.greeting }
${GREETING_TESTS}`,
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
