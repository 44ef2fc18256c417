// Generates the program that runs a method from an app, by the client library.
import { isJsonList, isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import type { AppLanguage } from './app-packages.ts';

export interface CodeOptions {
  readonly baseUrl: string;
  /** wf_… */
  readonly methodId: string;
  /** In the spelling of file names: `refund-order`. */
  readonly name: string;
  readonly inputs: JsonObject;
}

export interface Program {
  readonly language: AppLanguage;
  readonly file: string;
  readonly code: string;
  /** Starts it, in the app's folder. */
  readonly command: string;
}

export function programOf(language: AppLanguage, options: CodeOptions): Program {
  const name = options.name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  if (language === 'node') {
    const file = `run-${name}.mjs`;
    return { language, file, code: nodeCode(options), command: `node ${file}` };
  }
  const file = `run_${name.replaceAll('-', '_')}.py`;
  return { language, file, code: pythonCode(options), command: `.venv/bin/python ${file}` };
}

function nodeCode({ baseUrl, methodId, inputs }: CodeOptions): string {
  return `import { Methods } from '@methods/client';

// The key is that of .env. The first run starts a worker in this process.
const methods = new Methods({ baseUrl: ${quoted(baseUrl)} });
const run = await methods.run({ method: ${quoted(methodId)}, inputs: ${nodeValue(inputs)} });
console.log(run.status, run.result ?? run.error);
`;
}

function pythonCode({ baseUrl, methodId, inputs }: CodeOptions): string {
  return `from methods import Methods

# The key is that of .env. The first run starts a worker beside this process.
with Methods(base_url=${JSON.stringify(baseUrl)}) as methods:
    run = methods.run(${JSON.stringify(methodId)}, ${pythonValue(inputs)})
    print(run.status, run.result or run.error)
`;
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
