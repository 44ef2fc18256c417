// Owns the header of a method: its format, its name, and the `title` and `description` that people read.
import { hintNearest } from '../source/did-you-mean.ts';
import type { Findings } from '../source/findings.ts';
import { METHOD_NAME } from '../source/names.ts';
import type { SourceMap } from '../source/source-node.ts';

const FORMATS = ['method/2', 'workflow/2'] as const;

/** The format; undefined with a finding. */
export function readFormat(findings: Findings, root: SourceMap): (typeof FORMATS)[number] | undefined {
  const entry = root.entries.get('format');
  if (!entry) {
    findings.add('M102', 'format is missing', 'format', [root.range[0], root.range[0]], {
      hint: 'add  format: method/2',
    });
    return undefined;
  }
  const text = entry.value.kind === 'scalar' ? entry.value.text : '';
  const known = FORMATS.find((format) => format === text);
  if (!known) {
    findings.add('M103', `unknown format "${text.slice(0, 40)}"`, 'format', entry.value.range, {
      hint: hintNearest(text, FORMATS) ?? 'write  format: method/2',
    });
  }
  return known;
}

/** The name; empty with a finding. */
export function readName(findings: Findings, map: SourceMap): string {
  const entry = map.entries.get('name');
  if (!entry) {
    findings.add('M102', 'name is missing', 'name', [map.range[0], map.range[0]], { hint: 'add  name: my-method' });
    return '';
  }
  const text = entry.value.kind === 'scalar' ? entry.value.text : '';
  if (METHOD_NAME.test(text)) return text;
  findings.add('M203', `"${text.slice(0, 40)}" is not a method name`, 'name', entry.value.range, {
    hint: 'small letters, digits and -, 2 to 64 characters; words for people go to title',
  });
  return '';
}

const TITLE_CHARACTERS_MAX = 200;

/** `title` and `description`: plain text and Markdown for people. */
interface Words {
  readonly title?: string;
  readonly description?: string;
}

/** Reads both keys of a mapping; absent ones stay absent. */
export function readWords(findings: Findings, map: SourceMap, path: string): Words {
  const words: { title?: string; description?: string } = {};
  for (const key of ['title', 'description'] as const) {
    const entry = map.entries.get(key);
    if (!entry) continue;
    const at = path === '' ? key : `${path}.${key}`;
    const text = entry.value.kind === 'scalar' ? entry.value.text.trim() : '';
    if (text === '')
      findings.add('M104', `${key} is text`, at, entry.value.range, { hint: `write it, or remove ${key}` });
    else if (key === 'title' && text.length > TITLE_CHARACTERS_MAX) {
      findings.add('M803', `a title has at most ${TITLE_CHARACTERS_MAX} characters`, at, entry.value.range, {
        hint: 'longer words go to description',
      });
    } else words[key] = text;
  }
  return words;
}
