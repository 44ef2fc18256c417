// Owns the catalogue of diagnostics: every code, how severe it is, and what it means in one line.
import type { Severity } from '../diagnostic.ts';

export interface CatalogueEntry {
  readonly severity: Severity;
  /** The heading of its page, docs/diagnostics/<code>.md. */
  readonly meaning: string;
  /**
   * What provokes the code. `source`: only a method. `callees`: a method and the interfaces of those it calls.
   * `upgrade`: a workflow/1 source. `elsewhere`: a page cannot show an example: the source would be too long, or others
   * raise the code.
   */
  readonly provokedBy: 'source' | 'callees' | 'upgrade' | 'elsewhere';
}

const error = (meaning: string, provokedBy: CatalogueEntry['provokedBy'] = 'source'): CatalogueEntry => ({
  severity: 'error',
  meaning,
  provokedBy,
});
const warning = (meaning: string, provokedBy: CatalogueEntry['provokedBy'] = 'source'): CatalogueEntry => ({
  severity: 'warning',
  meaning,
  provokedBy,
});

/** By code. A code never changes its meaning; one that is no longer raised stays. */
export const CATALOGUE: Readonly<Record<string, CatalogueEntry>> = {
  M001: error('The YAML cannot be read'),
  M002: error('The file is too large or holds characters that cannot be kept'),
  M003: error('A key or an entry is repeated'),
  M004: error('A tab indents a line'),
  M005: error('`!` at the start of a value is a YAML tag'),
  M006: error('The file is not one mapping'),
  M007: error('A YAML anchor, alias or merge key'),
  M101: error('An unknown key'),
  M102: error('A needed key is missing'),
  M103: error('An unknown format'),
  M104: error('A text or an expression is something else'),
  M105: error('Not one of the fixed words'),
  M106: error('A check has the wrong shape'),
  M107: error('Steps have the wrong shape'),
  M108: error('A step has no kind'),
  M109: error('A step has two kinds'),
  M110: warning('The step needs a worker with a feature'),
  M111: error('A key has no meaning for this kind'),
  M112: error('There is no code'),
  M113: error('A key is not available yet', 'elsewhere'),
  M114: error('The code does not parse'),
  M201: error('No such step has finished here'),
  M202: error('An unknown input'),
  M203: error('Not a valid name'),
  M204: error('A name is used twice'),
  M301: error('The type cannot be read'),
  M302: error('An unknown type, or one that is not allowed here'),
  M303: error('`?` is on the type'),
  M304: error('A number or a range cannot be'),
  M305: error('The pattern cannot be used'),
  M306: error('The union mixes types that cannot be distinguished'),
  M307: error('The default is missing'),
  M308: error('The choice cannot be read'),
  M309: warning('A field with a default is always there'),
  M310: error('Fields are a mapping'),
  M311: error('The default does not fit the type'),
  M312: error('A type contains itself'),
  M313: error('A schema costs too much to check'),
  M401: error('The expression cannot be read'),
  M402: error('Not part of the expression language'),
  M403: error('An unknown name, field or function'),
  M404: error('A condition is not true or false'),
  M405: error('A value may be absent'),
  M406: error('The types do not go together'),
  M407: error('The value has no text form'),
  M408: error('The comparison is always true or always false'),
  M409: warning('A text looks like an expression'),
  M501: error('`each` needs a list'),
  M502: error('`repeat` needs an end'),
  M503: error('`each` and `repeat` on one step'),
  M504: error('An entry of a list of paths is no path'),
  M505: warning('Code is never templated'),
  M506: warning('A returned value is dropped'),
  M507: warning('A value of `in` is not used'),
  M508: error('A field is not declared in `out`'),
  M509: error('Not exactly one verb'),
  M510: error('Not an absolute URL'),
  M511: error('The body cannot be sent'),
  M512: error('`ask` without `out`'),
  M513: warning('Questions are asked one by one'),
  M514: error('No method to call', 'callees'),
  M515: error('Calls form a circle or nest too deep', 'callees'),
  M516: error('The called method is given the wrong inputs', 'callees'),
  M517: error('The called method gives no such result', 'callees'),
  M601: error('Not a name for a secret'),
  M602: error('The secret is not declared'),
  M603: error('The code names a secret it is not given'),
  M604: error('A credential is outside `auth`'),
  M605: warning('A secret is declared but not used'),
  M606: error('A secret would become visible'),
  M701: error('`dependencies` has the wrong form'),
  M702: error('The version of a package is not exact'),
  M703: error('The package was not found', 'elsewhere'),
  M704: error('The installed packages do not match the lock', 'elsewhere'),
  M801: error('Not a duration'),
  M802: error('The deadline is given twice'),
  M803: error('An amount is out of bounds'),
  M804: error('A code block is too large', 'elsewhere'),
  M805: error('Too many steps, or steps nest too deep'),
  M901: error('A test names what is not there'),
  M902: error('A value in a test does not fit'),
  U000: warning('A workflow/1 source needs an upgrade'),
  U001: error('Not a workflow/1 source', 'upgrade'),
  U002: error('A value in a quoted heredoc', 'upgrade'),
  U003: error('An unknown `{{name}}`', 'upgrade'),
  U004: warning('The value was pasted as code', 'upgrade'),
  U005: error('The condition is not understood', 'upgrade'),
  U007: error('`run` is not text', 'upgrade'),
  U008: warning('`global` or multiprocessing in python', 'upgrade'),
  U009: error('The upgraded text does not validate', 'elsewhere'),
};
