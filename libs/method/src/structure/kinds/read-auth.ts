// Owns `auth` of http steps: bearer, basic or a header, always from secrets.
import type { HttpAuth } from '../../compiled-method.ts';
import type { CompiledValue } from '../../compiled-value.ts';
import type { SourceEntry, SourceNode } from '../../source/source-node.ts';
import { isUnknown, membersOf } from '../../types/type.ts';
import { checkKeys } from '../check-keys.ts';
import { AUTH_KEYS } from '../keys.ts';
import { placeOf, type StepContext } from '../step-context.ts';

const FORMS = 'auth is { bearer: NAME }, { basic: [USER, PASSWORD] } or { header: X-Api-Key, secret: NAME }';
const EXAMPLE = 'for example  auth: { bearer: API_TOKEN }';
const NO_SECRET: CompiledValue = { kind: 'literal', value: '' };

/** Headers that carry credentials, in any case. */
export function isCredentialHeader(name: string): boolean {
  return /^(?:authorization|proxy-authorization|cookie|x-api-key|api-key|x-auth-token|x-access-token)$/i.test(name);
}

export function readAuth(context: StepContext, entry: SourceEntry | undefined, path: string): HttpAuth | null {
  if (!entry) return null;
  const { findings } = context;
  const auth = entry.value;
  if (auth.kind !== 'map') {
    findings.add('M105', FORMS, path, auth.range, { hint: EXAMPLE });
    return null;
  }
  checkKeys(findings, auth, AUTH_KEYS, path);
  const given = [...auth.entries.keys()].sort().join(' ');
  const bearer = auth.entries.get('bearer');
  if (given === 'bearer' && bearer)
    return { kind: 'bearer', token: credential(context, bearer.value, `${path}.bearer`) };
  const basic = auth.entries.get('basic');
  if (given === 'basic' && basic) {
    const [user, password] = basic.value.kind === 'list' ? basic.value.items : [];
    if (basic.value.kind === 'list' && basic.value.items.length === 2 && user && password) {
      return {
        kind: 'basic',
        user: credential(context, user, `${path}.basic[0]`),
        password: credential(context, password, `${path}.basic[1]`),
      };
    }
    findings.add('M105', 'basic is a list of two secrets: user and password', `${path}.basic`, basic.value.range, {
      hint: 'write  basic: [USER, PASSWORD]',
    });
    return null;
  }
  const header = auth.entries.get('header');
  const secret = auth.entries.get('secret');
  if (given === 'header secret' && header && secret) {
    const name = header.value.kind === 'scalar' ? header.value.text : '';
    if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name))
      findings.add('M203', 'this is not a header name', `${path}.header`, header.value.range, {
        hint: 'for example  X-Api-Key',
      });
    return { kind: 'header', header: name, secret: credential(context, secret.value, `${path}.secret`) };
  }
  if ([...auth.entries.keys()].every((key) => AUTH_KEYS.keys.includes(key)))
    findings.add('M105', FORMS, path, entry.keyRange, { hint: EXAMPLE });
  return null;
}

/** A declared secret's name, or `=` an expression that gives a secret (a token an earlier step fetched). */
function credential(context: StepContext, node: SourceNode, path: string): CompiledValue {
  const text = node.kind === 'scalar' ? node.text : '';
  if (!text.startsWith('=')) return context.values.secretName(text, path, node.range) ?? NO_SECRET;
  const read = context.values.value(node, path, placeOf(context, 'fields'));
  if (!isUnknown(read.type) && membersOf(read.type).some((member) => member.kind !== 'secret')) {
    context.findings.add('M604', 'a credential comes from a secret', path, node.range, {
      hint: 'declare the value as secret in the out of its step',
    });
  }
  return read.value;
}
