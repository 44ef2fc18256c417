// Generates the code that starts a method from an app: plain HTTP with the language's standard library, so nothing has
// to be installed.
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import type { AppLanguage } from './app-language.ts';

export interface CodeOptions {
  readonly baseUrl: string;
  /** wf_… */
  readonly methodId: string;
  /** In the spelling of file names: `refund-order`. */
  readonly name: string;
  readonly inputs: JsonObject;
}

/** The heading of the code: its requirements, and how it gets the key of `.env`. */
export const CODE_HEADINGS: Readonly<Record<AppLanguage, string>> = {
  node: 'Node 20 or later, started with  node --env-file=.env FILE',
  python: 'Python 3.8 or later, started with  set -a; . ./.env; set +a; python3 FILE',
};

/** How long one request may wait for the end of a run; for a longer run the code asks again by its id. */
const WAIT_MS = 60_000;
/** `sk_` and the auth part. The rest of a key is for the app's own encryption, and stays in the app. */
const AUTH_CHARACTERS = 46;

export function codeToPaste(language: AppLanguage, options: CodeOptions): string {
  return language === 'node' ? nodeCode(options) : pythonCode(options);
}

function nodeCode({ baseUrl, methodId, name, inputs }: CodeOptions): string {
  const start = `start${words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}`;
  return `async function ${start}(inputs) {
  const response = await fetch(${quoted(`${baseUrl}/v1/runs?wait_ms=${WAIT_MS}`)}, {
    method: 'POST',
    headers: {
      authorization: \`Bearer \${process.env.SERVICE_API_KEY.slice(0, ${AUTH_CHARACTERS})}\`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      method: ${quoted(methodId)},
      inputs,
      // Keep it until the answer is known: sending it again starts nothing twice.
      idempotency_key: crypto.randomUUID(),
    }),
  });
  const run = await response.json();
  if (!response.ok) throw new Error(run.message ?? run.error);
  return run;
}

${start}(${nodeValue(inputs)}).then((run) => console.log(run.status, run.result));
`;
}

function pythonCode({ baseUrl, methodId, name, inputs }: CodeOptions): string {
  const start = ['start', ...words(name)].join('_');
  return `import json
import os
import urllib.request
import uuid


def ${start}(inputs):
    request = urllib.request.Request(
        ${JSON.stringify(`${baseUrl}/v1/runs?wait_ms=${WAIT_MS}`)},
        data=json.dumps({
            "method": ${JSON.stringify(methodId)},
            "inputs": inputs,
            # Keep it until the answer is known: sent again, it starts nothing twice.
            "idempotency_key": str(uuid.uuid4()),
        }).encode(),
        headers={
            "authorization": "Bearer " + os.environ["SERVICE_API_KEY"][:${AUTH_CHARACTERS}],
            "content-type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=${WAIT_MS / 1000 + 30}) as response:
        return json.load(response)


run = ${start}(${pythonValue(inputs)})
print(run["status"], run.get("result"))
`;
}

/** Lower-case words of letters and digits, valid in a name in code after another word. */
function words(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function nodeValue(value: JsonValue): string {
  if (isJsonList(value)) return `[${value.map(nodeValue).join(', ')}]`;
  if (isJsonObject(value)) {
    const fields = Object.entries(value).map(([name, field]) => {
      // As a plain key this one would set the prototype.
      const key =
        name === '__proto__' ? '["__proto__"]' : /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
      return `${key}: ${nodeValue(field)}`;
    });
    return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
  }
  return JSON.stringify(value);
}

function pythonValue(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (isJsonList(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (isJsonObject(value)) {
    return `{${Object.entries(value)
      .map(([name, field]) => `${JSON.stringify(name)}: ${pythonValue(field)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}
