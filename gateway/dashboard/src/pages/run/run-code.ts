// A start like that of a run, to copy: as a curl command, and as code of both client libraries. Pure.

export interface StartToCopy {
  readonly server: string;
  readonly method: string;
  readonly version: string;
  /** JSON; null: too large to copy, or sealed. */
  readonly inputsJson: string | null;
}

export function curlStart({ server, method, version, inputsJson }: StartToCopy): string {
  const body = `{"method":${JSON.stringify(method)},"version":${JSON.stringify(version)},"inputs":${inputsJson ?? '{}'}}`;
  return [
    `curl ${shellWord(`${server}/v1/runs?wait_ms=30000`)} \\`,
    `  -H "Authorization: Bearer $SERVICE_API_KEY" -H 'content-type: application/json' \\`,
    `  -d ${shellWord(body)}`,
  ].join('\n');
}

export function nodeStart({ method, version, inputsJson }: StartToCopy): string {
  return [
    `import { Methods } from '@methods/client';`,
    '',
    `const methods = new Methods();`,
    `const run = await methods.run({`,
    `  method: ${scriptText(method)},`,
    `  version: ${scriptText(version)},`,
    `  inputs: ${safeInScript(inputsJson ?? '{}')},`,
    `});`,
    `console.log(run.status, run.result);`,
  ].join('\n');
}

export function pythonStart({ method, version, inputsJson }: StartToCopy): string {
  return [
    `import json`,
    `from methods import Methods`,
    '',
    `with Methods() as methods:`,
    `    run = methods.run(`,
    `        ${JSON.stringify(method)},`,
    // A text in JSON is a text in Python, but for halves of pairs, which no JSON that was stored has.
    `        json.loads(${JSON.stringify(inputsJson ?? '{}')}),`,
    `        version=${JSON.stringify(version)},`,
    `    )`,
    `    print(run.status, run.result)`,
  ].join('\n');
}

/** One word for a POSIX shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function scriptText(text: string): string {
  return safeInScript(JSON.stringify(text));
}

/** JSON is an expression of JavaScript, but `__proto__` as a key would mean something else there. */
function safeInScript(json: string): string {
  return json.includes('__proto__') ? `JSON.parse(${JSON.stringify(json)})` : json;
}
