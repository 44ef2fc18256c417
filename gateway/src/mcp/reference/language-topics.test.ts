import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileMethod } from '@methods/method/compile';
import { languageTopic, languageTopics } from './language-topics.ts';
import { anchorOf, pageSections } from './page-sections.ts';

const DOCS = new URL('../../../../docs/', import.meta.url);
const page = readFileSync(new URL('language.md', DOCS), 'utf8');
const names = languageTopics().map(({ name }) => name);

function textOf(name: string): string {
  const text = languageTopic(name);
  assert.ok(text !== null && text.length > 100, `there is no topic ${name}`);
  return text;
}

/** Without what fences and fragments begin with. */
function blocksOf(text: string): string[] {
  return [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block.replace(/^# (entries|top-level|fields,|the inputs).*\n/, ''),
  );
}

test('every section of the page belongs to one topic, word for word', () => {
  const all = names.map(textOf).join('\n');
  for (const { text } of pageSections(page)) {
    const [heading = ''] = text.split('\n');
    const found = all.split('\n').filter((line) => line === heading);
    assert.equal(found.length, 1, `${heading} is in ${found.length} topics`);
    const sentence = text.split('\n').find((line) => /^[A-Z][^[\]`|]{30,}$/.test(line));
    if (sentence !== undefined) assert.ok(all.includes(sentence), sentence);
  }
});

test('every example of the page is in a topic, and each complete one compiles without a finding', () => {
  const shown = names.flatMap((name) => blocksOf(textOf(name)));
  assert.deepEqual(
    blocksOf(page).filter((block) => !shown.includes(block)),
    [],
  );
  const complete = shown.filter((block) => /^(#.*\n)*format: /.test(block));
  assert.ok(complete.length >= 4);
  for (const source of complete) assert.deepEqual(compileMethod(source).diagnostics, [], source);
});

test('every complete example is listed with its purpose, and compiles without a finding', () => {
  const listed = [...textOf('examples').matchAll(/^- `(example\/[a-z-]+)`(?:: .{20,})?$/gm)].map(
    ([, name = '']) => name,
  );
  const files = readdirSync(new URL('../../../../libs/method/examples/', import.meta.url)).filter((name) =>
    name.endsWith('.method'),
  );
  assert.deepEqual(listed, files.map((name) => `example/${name.replace('.method', '')}`).sort());
  for (const name of listed) {
    const [source = ''] = blocksOf(textOf(name));
    assert.deepEqual(
      compileMethod(source).diagnostics.filter(({ code }) => code !== 'M110'),
      [],
      name,
    );
    assert.ok(textOf(name).length <= 12_000);
  }
});

test('a topic has at most 12,000 characters, and no link that its reader cannot follow', () => {
  for (const name of names) {
    const text = textOf(name);
    assert.ok(text.length <= 12_000, `${name} has ${text.length} characters`);
    assert.doesNotMatch(text.replace(/^```[\s\S]*?^```$/gm, ''), /\]\([^)]*\)/, name);
    for (const [, other = ''] of text.matchAll(/\(topic `([^`]+)`\)/g)) assert.ok(names.includes(other), other);
  }
  for (const [, target = ''] of page.matchAll(/\]\(#([^)]+)\)/g)) {
    assert.ok(
      pageSections(page).some(({ heading }) => anchorOf(heading) === target),
      target,
    );
  }
});

test('a topic is found by other words too, and a code of a diagnostic by itself', () => {
  for (const word of ['Inputs', 'policies', ' retry', 'python', 'each']) textOf(word);
  assert.match(textOf('m403'), /^# M403: /);
  for (const file of readdirSync(new URL('diagnostics/', DOCS))) {
    const code = file.replace('.md', '');
    if (code !== 'README') assert.ok(textOf('findings').includes(code) && textOf(code).length <= 12_000, code);
  }
});

test('what is no topic gives none, and reads no other file', () => {
  for (const name of [
    '',
    'nothing',
    'M999',
    'U',
    'example/',
    'example/nothing',
    'example/../package',
    'example/older/a',
    '../language',
    'x'.repeat(100_000),
  ]) {
    assert.equal(languageTopic(name), null, name.slice(0, 40));
  }
});
