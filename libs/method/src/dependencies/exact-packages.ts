// Owns the notation of packages at an exact version: `stripe@17.5.0` for npm, `pandas==2.2.3` for pip.
import type { ExactPackage } from '../compiled-method.ts';

export interface PackageNotation {
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

export const NPM: PackageNotation = {
  split: (text) => {
    const at = text.indexOf('@', 1);
    return parts(NPM_NAME, at < 0 ? text : text.slice(0, at), at < 0 ? '' : text.slice(at + 1));
  },
  isExact: (version) => NPM_VERSION.test(version),
  sameAs: (name) => name,
  example: 'stripe@17.5.0',
  mark: '@',
};

export const PIP: PackageNotation = {
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
