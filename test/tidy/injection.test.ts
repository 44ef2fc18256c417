// tsx writes no parameter metadata: a constructor parameter whose @inject was forgotten behind one that has it is
// silently undefined when the container makes the class.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sources } from './source-files.ts';

interface Parameter {
  readonly of: string;
  readonly text: string;
}

function injectedParameters(): Parameter[] {
  return sources.flatMap(({ path, text }) =>
    [...text.matchAll(/@(?:injectable|singleton)\(\)\s*export class (\w+)/g)].flatMap((found) => {
      const body = text.slice(found.index, endOfClass(text, found.index));
      const at = body.indexOf('constructor(');
      if (at === -1) return [];
      const list = insideParentheses(body.slice(at + 'constructor'.length));
      return topLevelParts(list).map((parameter) => ({ of: `${path} ${found[1]}`, text: parameter }));
    }),
  );
}

/** Biome closes a top-level class with a brace in the first column. */
function endOfClass(text: string, from: number): number {
  const end = text.indexOf('\n}', from);
  return end === -1 ? text.length : end;
}

function insideParentheses(text: string): string {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    if (text[i] === ')' && --depth === 0) return text.slice(1, i);
  }
  return text.slice(1);
}

function topLevelParts(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of list) {
    if ('([{<'.includes(character)) depth++;
    if (')]}>'.includes(character)) depth--;
    if (character === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += character;
  }
  return [...parts, part.trim()].filter((text) => text !== '');
}

test('every constructor parameter of an injectable class says what is injected', () => {
  const parameters = injectedParameters();
  assert.ok(parameters.length > 0, 'no injectable class was found: this test looks in the wrong place');
  assert.deepEqual(
    parameters.filter(({ text }) => !text.startsWith('@inject(')),
    [],
  );
});

test('only a composition touches the container', () => {
  const touching = sources.filter(({ text }) => /import \{[^}]*\bcontainer\b[^}]*\} from 'tsyringe'/.test(text));
  assert.deepEqual(
    touching.map(({ path }) => path).filter((path) => !/composition(\.ts|\/)/.test(path)),
    [],
  );
});
