// Owns the secrets a method declares and which of them its steps use.
import type { DeclaredSecret } from '../compiled-method.ts';
import { hintNearest } from '../source/did-you-mean.ts';
import type { Findings } from '../source/findings.ts';
import { isTakenSecretName, SECRET_NAME } from '../source/names.ts';
import { isEmptyNode, type SourceNode } from '../source/source-node.ts';
import type { Range } from '../source/source-text.ts';

const SECRETS_MAX = 100;

export class DeclaredSecrets {
  readonly #findings: Findings;
  readonly #declared = new Map<string, { readonly note: string | undefined; readonly range: Range }>();
  readonly #used = new Set<string>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Reads `secrets:`, a list of names or `NAME: note`. */
  read(node: SourceNode): void {
    if (node.kind === 'list') {
      for (const [index, item] of node.items.entries()) {
        this.#declare(item.kind === 'scalar' ? item.text : '', undefined, `secrets[${index}]`, item.range);
      }
    } else if (node.kind === 'map') {
      for (const entry of node.entries.values()) {
        const note = entry.value.kind === 'scalar' ? entry.value.text : undefined;
        if (note === undefined)
          this.#findings.add('M104', 'the note of a secret is text', `secrets.${entry.key}`, entry.value.range, {
            hint: `write  ${entry.key}: what it is for`,
          });
        this.#declare(entry.key, note === '' ? undefined : note, `secrets.${entry.key}`, entry.keyRange);
      }
    } else if (!isEmptyNode(node)) {
      this.#findings.add('M601', 'secrets is a list of names or a mapping of NAME: note', 'secrets', node.range, {
        hint: 'for example  secrets: [API_TOKEN]',
      });
    }
  }

  #declare(name: string, note: string | undefined, path: string, range: Range): void {
    if (!SECRET_NAME.test(name)) {
      this.#findings.add('M601', `"${name.slice(0, 40)}" is not a secret name`, path, range, {
        hint: 'capitals, digits and _, such as API_TOKEN',
      });
    } else if (isTakenSecretName(name)) {
      this.#findings.add('M601', `"${name}" is a name the worker needs itself`, path, range, {
        hint: `for example  MY_${name}`,
      });
    } else if (this.#declared.has(name)) {
      this.#findings.add('M003', `secret "${name}" is declared twice`, path, range, { hint: 'remove one of the two' });
    } else if (this.#declared.size >= SECRETS_MAX) {
      this.#findings.add('M803', `a method has at most ${SECRETS_MAX} secrets`, path, range, {
        hint: 'move a part of the steps into a method of its own',
      });
    } else this.#declared.set(name, { note, range });
  }

  /** Marks a name as used; false with M602 when it is not declared. */
  use(name: string, path: string, range: Range): boolean {
    if (this.#declared.has(name)) {
      this.#used.add(name);
      return true;
    }
    this.#findings.add('M602', `secret "${name.slice(0, 40)}" is not declared`, path, range, {
      hint: () => hintNearest(name, this.#declared.keys()) ?? 'add it under secrets: at the top',
    });
    return false;
  }

  get names(): Iterable<string> {
    return this.#declared.keys();
  }

  has(name: string): boolean {
    return this.#declared.has(name);
  }

  get all(): DeclaredSecret[] {
    return Array.from(this.#declared, ([name, { note }]) => (note === undefined ? { name } : { name, note }));
  }

  /** M605 for names no step uses. */
  warnUnused(): void {
    for (const [name, { range }] of this.#declared) {
      if (!this.#used.has(name))
        this.#findings.warn('M605', `secret ${name} is declared but no step uses it`, `secrets.${name}`, range);
    }
  }
}
