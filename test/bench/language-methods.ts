// The small methods that the workload `language` runs, and how long they and an empty process take.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { compileMethod } from '@methods/method/compile';
import type { CodeLanguage, CompiledMethod } from '@methods/method/compiled-method';

/** PATH of the steps. */
export const PATH = [join(process.execPath, '..'), '/usr/local/bin', '/usr/bin', '/bin'].join(':');

const ADDITION: Record<CodeLanguage, string> = {
  node: 'return { sum: a + 2 }',
  python: 'return {"sum": a + 2}',
  shell: 'step out sum $((a + 2))',
};
const EMPTY: Record<CodeLanguage, readonly [string, ...string[]]> = {
  node: [process.execPath, '-e', ''],
  python: ['python3', '-I', '-c', ''],
  shell: ['bash', '--noprofile', '--norc', '-c', ''],
};

/** One step that adds two numbers. */
export function addition(language: CodeLanguage): CompiledMethod {
  return compiledMethod(`format: method/2
name: addition
inputs: { a: integer }
steps:
  - name: add
    in: [inputs.a]
    ${language}: |
      ${ADDITION[language]}
    out: { sum: integer }
result: { sum: =steps.add.sum }
`);
}

/** The first step imports the package `greet`, of version 1.0.0. */
export const GREETING = `format: method/2
name: greeting
inputs: { a: string }
dependencies: { npm: [greet@1.0.0] }
steps:
  - name: greet
    in: [inputs.a]
    node: |
      import { greet } from 'greet'
      return { text: greet(a) }
    out: { text: string }
result: { text: =steps.greet.text }
`;

/** A step's condition, evaluated where it is first asked. */
export const CONDITIONED = `format: method/2
name: conditioned
inputs: { amount: number }
steps:
  - name: a
    if: inputs.amount > 10
    node: |
      return { x: null }
    out: { x: string | null }
  - name: b
    if: inputs.amount > 100 && steps.a?.x == null
    node: |
      step.log("large")
`;

export function compiledMethod(source: string): CompiledMethod {
  const { method, diagnostics } = compileMethod(source);
  if (method === null) throw new Error(`the bench's own method is not valid: ${JSON.stringify(diagnostics)}`);
  return method;
}

/** From its start to its end. */
export async function emptyProcessMs(language: CodeLanguage): Promise<number> {
  const [command, ...args] = EMPTY[language];
  const startedMs = performance.now();
  const child = spawn(command, args, { env: { PATH }, stdio: 'ignore' });
  await new Promise((resolve) => child.once('close', resolve));
  return performance.now() - startedMs;
}
