// Owns the keys of `dependencies` and `lib`, and the words of other languages for them.
import type { KeyTable } from '../structure/keys.ts';

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
