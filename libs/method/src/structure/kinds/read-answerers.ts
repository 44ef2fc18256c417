// Owns lists of answerers: e-mail addresses and roles (M518).
import { ANSWERERS_MAX, ROLES } from '../../answer-policy.ts';
import { nearest } from '../../source/did-you-mean.ts';
import type { Findings } from '../../source/findings.ts';
import type { SourceEntry, SourceNode } from '../../source/source-node.ts';
import { hasFormat } from '../../types/formats.ts';

const EXAMPLE = 'for example  to: [admin, ann@example.com]';
const SHOWN_CHARACTERS_MAX = 80;

/** Addresses in lower case and roles, each once; empty without the key, or with a finding. A single one needs no list. */
export function readAnswerers(findings: Findings, entry: SourceEntry | undefined, path: string): string[] {
  if (!entry) return [];
  const isList = entry.value.kind === 'list';
  const items = entry.value.kind === 'list' ? entry.value.items : [entry.value];
  if (entry.value.kind === 'map') {
    findings.add('M518', 'to is a list of e-mail addresses and roles', path, entry.value.range, { hint: EXAMPLE });
    return [];
  }
  if (items.length === 0 || items.length > ANSWERERS_MAX) {
    findings.add('M803', `to has 1 to ${ANSWERERS_MAX} addresses and roles`, path, entry.value.range, {
      hint: items.length === 0 ? EXAMPLE : 'name a role instead of every person',
    });
    return [];
  }
  const answerers = new Set<string>();
  for (const [index, item] of items.entries()) {
    const at = isList ? `${path}[${index}]` : path;
    const answerer = readAnswerer(findings, item, at);
    if (answerer === undefined) continue;
    if (answerers.has(answerer))
      findings.add('M003', `"${answerer}" is listed twice`, at, item.range, { hint: 'remove one of the two' });
    answerers.add(answerer);
  }
  return [...answerers];
}

function readAnswerer(findings: Findings, item: SourceNode, at: string): string | undefined {
  const text = item.kind === 'scalar' ? item.text : '';
  const role = ROLES.find((known) => known === text);
  if (role !== undefined) return role;
  const shown = text.slice(0, SHOWN_CHARACTERS_MAX);
  if (text.startsWith('=') || text.includes('${')) {
    findings.add('M518', 'to holds fixed addresses and roles, no expressions', at, item.range, { hint: EXAMPLE });
  } else if (!text.includes('@')) {
    const message =
      text === '' ? 'this is neither an address nor a role' : `"${shown}" is neither an address nor a role`;
    findings.add('M518', message, at, item.range, {
      hint: () => {
        const near = nearest(text.toLowerCase(), ROLES);
        return near === undefined ? `roles are ${ROLES.join(', ')}` : `did you mean "${near}"?`;
      },
    });
  } else if (!hasFormat('email', text)) {
    findings.add('M518', `"${shown}" is not an e-mail address`, at, item.range, {
      hint: 'only the address, such as ann@example.com',
    });
  } else return text.toLowerCase();
  return undefined;
}
