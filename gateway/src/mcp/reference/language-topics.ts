// The language's reference by topic: docs/language.md in pieces that a reader with little room asks for one by one, the
// complete examples, and the page of each diagnostic. There is no second text: all of it is read from these documents.
import { readdirSync, readFileSync } from 'node:fs';
import { anchorOf, type PageSection, pageSections, readWithoutLinks } from './page-sections.ts';

export interface LanguageTopic {
  /** As it is asked for: `errors`, `example/pay-invoices`, `M403`. */
  readonly name: string;
  /** What it is about, in a line. */
  readonly summary: string;
}

interface SectionTopic extends LanguageTopic {
  /** Headings of docs/language.md. */
  readonly sections: readonly string[];
  /** Other words that it is asked for by. */
  readonly also?: readonly string[];
}

const TITLE = 'The language of methods';

const TOPICS: readonly SectionTopic[] = [
  topic('overview', 'a complete method, and the form of the file; begin here', [TITLE, 'The file'], ['file', 'start']),
  topic(
    'method',
    'the keys of the whole file, on_failure and finally',
    ['Top-level keys'],
    ['keys', 'on_failure', 'finally'],
  ),
  topic('steps', 'the keys of a step, and steps that are skipped', ['Step keys', 'Skipped steps'], ['step', 'if']),
  topic(
    'types',
    'fields of inputs, outs and results, and their notation',
    ['Types'],
    ['inputs', 'outputs', 'out', 'fields'],
  ),
  topic('files', 'values of type file, as inputs and outs', ['Files'], []),
  topic(
    'expressions',
    'values, ${…}, operators, methods and functions',
    ['Values and expressions'],
    ['values', 'result'],
  ),
  topic('code', 'steps in node, python and shell', ['Code: node, python, shell'], ['node', 'python', 'shell']),
  topic('http', 'steps that call a server', ['http'], ['request']),
  topic(
    'ask',
    'questions to people, and their policies',
    ['ask', 'Policies'],
    ['policies', 'question', 'questions', 'human'],
  ),
  topic('call', 'steps that run another method', ['call'], ['calls']),
  topic('wait', 'steps that pause a run', ['wait'], []),
  topic('groups', 'steps in groups and in parallel', ['Groups and parallel'], ['parallel', 'group']),
  topic('loops', 'each and repeat', ['Loops'], ['loop', 'each', 'repeat']),
  topic('checks', 'require, ensure and check', ['check', 'Checks'], ['check', 'require', 'ensure']),
  topic(
    'errors',
    'kinds of failures, retry and on_error',
    ['Errors and retries'],
    ['error', 'retry', 'retries', 'on_error'],
  ),
  topic('secrets', 'declaring and using secrets', ['Secrets'], ['secret']),
  topic('limits', 'deadlines and sizes', ['Limits'], ['limit', 'timeout']),
  topic('dependencies', 'packages, commands and lib', ['Dependencies and lib'], ['lib', 'packages']),
  topic('resume', 'what runs again when a worker is lost', ['Resume'], ['on_interrupt']),
  topic('tests', "a method's own tests", ['Tests'], ['test', 'mock']),
  topic('formats', 'the older formats and their upgrade', ['Older formats'], ['workflow/1', 'workflow/2', 'upgrade']),
];
const FINDINGS: SectionTopic = topic(
  'findings',
  'the codes of diagnostics; ask for a code, such as M403, for its page',
  ['Findings'],
  ['diagnostics'],
);
const EXAMPLES: LanguageTopic = {
  name: 'examples',
  summary: 'complete methods from many fields, each as example/<name>',
};
const EXAMPLE = 'example/';

/** Documents of this repository, which processes run from. */
const DOCS = new URL('../../../../docs/', import.meta.url);
const EXAMPLES_FOLDER = new URL('../../../../libs/method/examples/', import.meta.url);

/** In the order to read them in. */
export function languageTopics(): readonly LanguageTopic[] {
  return [...TOPICS, FINDINGS, EXAMPLES].map(({ name, summary }) => ({ name, summary }));
}

/** Markdown of at most 12,000 characters, by a topic's name or a word for it; null: there is no such topic. */
export function languageTopic(asked: string): string | null {
  const name = asked.trim();
  if (/^[MU]\d{3}$/i.test(name)) return diagnosticPage(name.toUpperCase());
  const word = name.toLowerCase();
  if (word === EXAMPLES.name || word === 'example') return kept(EXAMPLES.name, examplesText);
  if (word.startsWith(EXAMPLE)) return exampleText(word.slice(EXAMPLE.length));
  if (isCalled(FINDINGS, word)) return kept(FINDINGS.name, findingsText);
  const found = TOPICS.find((each) => isCalled(each, word));
  return found === undefined ? null : kept(found.name, () => sectionsText(found));
}

function topic(name: string, summary: string, sections: readonly string[], also: readonly string[]): SectionTopic {
  return { name, summary, sections, also };
}

function isCalled({ name, also = [] }: SectionTopic, word: string): boolean {
  return name === word || also.includes(word);
}

/** The documents do not change while a process runs, and there are few topics. */
const texts = new Map<string, string>();

function kept(name: string, make: () => string): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = make();
  texts.set(name, text);
  return text;
}

let sections: ReadonlyMap<string, PageSection> | undefined;

function sectionsText(of: SectionTopic): string {
  sections ??= new Map(
    pageSections(readFileSync(new URL('language.md', DOCS), 'utf8')).map((each) => [each.heading, each]),
  );
  return of.sections.map((heading) => sectionText(of, heading)).join('\n');
}

function sectionText(of: SectionTopic, heading: string): string {
  const text = sections?.get(heading)?.text ?? '';
  // The first section ends with the page's table of contents.
  const [body = ''] = heading === TITLE ? text.split(/^- \[The file\]/m) : [text];
  return readWithoutLinks(body, (words, target) => {
    const name = topicOfLink(target);
    if (target.startsWith('https:')) return `${words} (${target})`;
    return name === null || name === of.name ? words : `${words} (topic \`${name}\`)`;
  });
}

function topicOfLink(target: string): string | null {
  if (target.startsWith('diagnostics/')) return FINDINGS.name;
  if (target.includes('libs/method/examples')) return EXAMPLES.name;
  const leadsTo = ({ sections: headings }: SectionTopic) => headings.some((each) => `#${anchorOf(each)}` === target);
  return [...TOPICS, FINDINGS].find(leadsTo)?.name ?? null;
}

function findingsText(): string {
  const list = readFileSync(new URL('diagnostics/README.md', DOCS), 'utf8');
  const codes = readWithoutLinks(list, (words) => words)
    .replace(/^# .*$/m, '## Codes')
    .replace(/^## (?!Codes)/gm, '### ');
  return `${sectionsText(FINDINGS)}\n${codes}`;
}

function diagnosticPage(code: string): string | null {
  const text = textIfThere(new URL(`diagnostics/${code}.md`, DOCS));
  return text === null ? null : readWithoutLinks(text, (words) => words);
}

function examplesText(): string {
  const names = readdirSync(EXAMPLES_FOLDER).flatMap((file) => /^(.+)\.method$/.exec(file)?.[1] ?? []);
  const lines = names.sort().map((name) => `- \`${EXAMPLE}${name}\`${purposeOf(name)}`);
  return `## Complete methods\n\n${lines.join('\n')}\n`;
}

/** Of the comment that an example begins with; some have only their name. */
function purposeOf(name: string): string {
  const source = readFileSync(new URL(`${name}.method`, EXAMPLES_FOLDER), 'utf8');
  return (/^(?:# .*\n)+/.exec(source)?.[0] ?? '')
    .trimEnd()
    .replace(/^# |\n# /g, (start) => (start === '# ' ? ': ' : ' '));
}

function exampleText(name: string): string | null {
  if (!/^[a-z0-9-]{1,64}$/.test(name)) return null;
  const source = textIfThere(new URL(`${name}.method`, EXAMPLES_FOLDER));
  return source === null ? null : `\`\`\`yaml\n${source}\`\`\`\n`;
}

function textIfThere(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
