// Owns the top-level `dependencies`: what a worker must have, or prepare, before the method can run on it.
import type { ExactPackage, MethodDependencies } from '../compiled-method.ts';
import type { Findings } from '../source/findings.ts';
import { isEmptyNode, type SourceEntry, type SourceMap } from '../source/source-node.ts';
import { checkKeys } from '../structure/check-keys.ts';
import type { KeyTable } from '../structure/keys.ts';

/** The keys of `dependencies` and `lib`, and the words of other languages for them. */
export const DEPENDENCY_KEYS: KeyTable = {
  what: 'dependencies',
  keys: ['node', 'python', 'npm', 'pip', 'commands'],
  foreign: new Map([
    ['packages', 'npm'],
    ['yarn', 'npm'],
    ['pypi', 'pip'],
    ['requirements', 'pip'],
    ['apt', 'commands'],
    ['tools', 'commands'],
    ['shell', 'commands'],
    ['bins', 'commands'],
  ]),
  extensible: false,
};

export const LIB_KEYS: KeyTable = {
  what: 'lib',
  keys: ['node', 'python', 'shell'],
  foreign: new Map([
    ['bash', 'shell'],
    ['sh', 'shell'],
    ['js', 'node'],
    ['javascript', 'node'],
    ['py', 'python'],
  ]),
  extensible: false,
};

const ENTRIES_MAX = 100;
// No registry has packages with longer names; the patterns never see them.
const ENTRY_CHARACTERS_MAX = 300;
const RUNTIME_VERSION = /^\d{1,3}(?:\.\d{1,5}){0,2}$/;
const COMMAND = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/;

/** Reads `dependencies`; without the key nothing is needed. */
export function readDependencies(findings: Findings, entry: SourceEntry | undefined): MethodDependencies {
  const map = entry?.value.kind === 'map' ? entry.value : undefined;
  if (entry && !map && !isEmptyNode(entry.value)) {
    findings.add('M701', 'dependencies is a mapping', 'dependencies', entry.value.range, {
      hint: `for example  dependencies: { npm: [${NPM.example}] }`,
    });
  }
  if (map) checkKeys(findings, map, DEPENDENCY_KEYS, 'dependencies');
  return {
    node: readRuntime(findings, map, 'node', '20'),
    python: readRuntime(findings, map, 'python', '3.11'),
    npm: readPackages(findings, map, 'npm', NPM),
    pip: readPackages(findings, map, 'pip', PIP),
    commands: readCommands(findings, map),
  };
}

/** The lowest version of a runtime. Numbers count in the author's spelling: 3.10 is not 3.1. */
function readRuntime(findings: Findings, map: SourceMap | undefined, key: string, example: string): string | null {
  const node = map?.entries.get(key)?.value;
  if (!node) return null;
  const text = node.kind === 'scalar' ? node.text : '';
  if (RUNTIME_VERSION.test(text)) return text;
  const bare = /^[>=^~v ]+(\d[\d.]{0,12})$/.exec(text.slice(0, 40))?.[1];
  findings.add('M701', `${key} is the lowest version that serves`, `dependencies.${key}`, node.range, {
    hint: `write  ${key}: ${bare ?? example}`,
  });
  return null;
}

function readPackages(
  findings: Findings,
  map: SourceMap | undefined,
  key: 'npm' | 'pip',
  notation: PackageNotation,
): ExactPackage[] {
  const packages = new Map<string, ExactPackage>();
  for (const { text, path, range } of itemsOf(findings, map, key, notation.example)) {
    const found = text.length > ENTRY_CHARACTERS_MAX ? undefined : notation.split(text);
    const same = found && notation.sameAs(found.name);
    if (!found || same === undefined) {
      findings.add('M701', `this is not the name of a package of ${key}`, path, range, {
        hint: `for example  ${notation.example}`,
      });
    } else if (!notation.isExact(found.version)) {
      const digits = /\d+(?:\.\d+){2}/.exec(found.version)?.[0] ?? '1.2.3';
      findings.add('M702', `${found.name} needs one exact version`, path, range, {
        hint: `write  ${found.name}${notation.mark}${digits}`,
      });
    } else if (packages.has(same)) {
      findings.add('M003', `the package ${found.name} is listed twice`, path, range, { hint: 'remove one of the two' });
    } else packages.set(same, found);
  }
  return [...packages.values()];
}

function readCommands(findings: Findings, map: SourceMap | undefined): string[] {
  const commands = new Set<string>();
  for (const { text, path, range } of itemsOf(findings, map, 'commands', 'git')) {
    if (COMMAND.test(text)) commands.add(text);
    else
      findings.add('M701', 'this is not the name of a command', path, range, {
        hint: 'a name on PATH such as git, without folder or options',
      });
  }
  return [...commands];
}

/** The texts of a list, at most 100. */
function* itemsOf(findings: Findings, map: SourceMap | undefined, key: string, example: string) {
  const entry = map?.entries.get(key);
  if (!entry) return;
  const at = `dependencies.${key}`;
  if (entry.value.kind !== 'list') {
    findings.add('M701', `${key} is a list`, at, entry.value.range, { hint: `for example  ${key}: [${example}]` });
    return;
  }
  if (entry.value.items.length > ENTRIES_MAX)
    findings.add('M803', `${key} has at most ${ENTRIES_MAX} entries`, at, entry.keyRange);
  for (const [index, item] of entry.value.items.slice(0, ENTRIES_MAX).entries()) {
    yield { text: item.kind === 'scalar' ? item.text : '', path: `${at}[${index}]`, range: item.range };
  }
}

/** The notation of packages at an exact version: `stripe@17.5.0` for npm, `pandas==2.2.3` for pip. */
interface PackageNotation {
  /** Parts of an entry; undefined when it names no package at all. An empty version means none was given. */
  readonly split: (text: string) => ExactPackage | undefined;
  readonly isExact: (version: string) => boolean;
  /** The name under which two entries are the same package. */
  readonly sameAs: (name: string) => string;
  readonly example: string;
  /** The separator of name and version. */
  readonly mark: string;
}

// Names and versions become arguments of an installer, so nothing that starts with - or holds a path, URL or space passes.
const NPM_NAME = /^(?:@[a-z0-9][a-z0-9._~-]{0,100}\/)?[a-z0-9][a-z0-9._~-]{0,100}$/;
// Semantic Versioning 2.0.0, without build metadata: registries drop it.
const NPM_VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z-]{1,40}(?:\.[0-9A-Za-z-]{1,40}){0,9})?$/;
// PEP 508 names with extras, PEP 440 versions.
const PIP_NAME =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[[A-Za-z0-9](?:[A-Za-z0-9._-]{0,40})(?:,[A-Za-z0-9][A-Za-z0-9._-]{0,40}){0,9}\])?$/;
const PIP_VERSION =
  /^(?:\d{1,4}!)?\d{1,9}(?:\.\d{1,9}){0,5}(?:(?:a|b|rc)\d{1,9})?(?:\.post\d{1,9})?(?:\.dev\d{1,9})?(?:\+[a-z0-9]{1,20}(?:[._-][a-z0-9]{1,20}){0,5})?$/;

const NPM: PackageNotation = {
  split: (text) => {
    const at = text.indexOf('@', 1);
    return parts(NPM_NAME, at < 0 ? text : text.slice(0, at), at < 0 ? '' : text.slice(at + 1));
  },
  isExact: (version) => NPM_VERSION.test(version),
  sameAs: (name) => name,
  example: 'stripe@17.5.0',
  mark: '@',
};

const PIP: PackageNotation = {
  split: (text) => {
    // Every operator of PEP 440, so that `pandas>=2` is distinguished from an unknown name.
    const end = /[=<>~!\s]/.exec(text)?.index ?? text.length;
    return parts(PIP_NAME, text.slice(0, end), text.slice(end).replace(/^\s*==\s*(?![=\s])/, ''));
  },
  isExact: (version) => PIP_VERSION.test(version),
  sameAs: (name) =>
    name
      .replace(/\[.*/, '')
      .toLowerCase()
      .replace(/[._-]+/g, '-'),
  example: 'pandas==2.2.3',
  mark: '==',
};

function parts(pattern: RegExp, name: string, version: string): ExactPackage | undefined {
  return pattern.test(name) ? { name, version } : undefined;
}
