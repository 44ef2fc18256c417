// Owns the top-level `lib`: code that every step of the same language can call.

import type { CodeBlock, CodeLanguage } from '../compiled-method.ts';
import type { Findings } from '../source/findings.ts';
import { isEmptyNode, type SourceEntry, stringOf } from '../source/source-node.ts';
import { checkKeys } from '../structure/check-keys.ts';
import { checkSyntax } from '../structure/kinds/read-code.ts';
import { utf8Bytes } from '../utf8-bytes.ts';
import { LIB_KEYS } from './read-dependencies.ts';

const CODE_BYTES_MAX = 65_536;
const LANGUAGES: readonly CodeLanguage[] = ['node', 'python', 'shell'];

/** Reads `lib`; a language without code has no entry. */
export function readLib(
  findings: Findings,
  entry: SourceEntry | undefined,
): { readonly [Language in CodeLanguage]?: CodeBlock } {
  if (!entry) return {};
  if (entry.value.kind !== 'map') {
    if (!isEmptyNode(entry.value))
      findings.add('M112', 'lib is a mapping of language: code', 'lib', entry.value.range, {
        hint: 'write  lib:  and below it  node: |',
      });
    return {};
  }
  checkKeys(findings, entry.value, LIB_KEYS, 'lib');
  const blocks: { [Language in CodeLanguage]?: CodeBlock } = {};
  for (const language of LANGUAGES) {
    const given = entry.value.entries.get(language);
    if (!given) continue;
    const at = `lib.${language}`;
    const code = stringOf(given.value) ?? '';
    if (code.trim() === '')
      findings.add('M112', `${language} needs code`, at, given.keyRange, {
        hint: `write  ${language}: |  and the code below`,
      });
    else if (utf8Bytes(code) > CODE_BYTES_MAX) findings.add('M804', 'code is at most 64 KiB', at, given.keyRange);
    else {
      const codeAt = given.value.kind === 'scalar' ? given.value.contentAt : given.value.range[0];
      if (language === 'node') checkSyntax(findings, at, given, null);
      blocks[language] = { code, line: findings.source.positionOf(codeAt).line };
    }
  }
  return blocks;
}
