// The names that a run folder's archive may hold. One rule for packing, unpacking and the folder itself, so that a
// folder never holds what another worker would refuse to unpack.

/** A run folder or its archive breaks a rule. `message` names the rule, never a file's content. */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused';
}

const DEPTH_MAX = 32;
const SEGMENT_BYTES_MAX = 255;
const NAME_BYTES_MAX = 1024;

/**
 * The names of one folder, relative and with `/`. Names that differ only in case or in Unicode composition are the
 * same name: on some file systems the second would overwrite the first.
 */
export class MemberNames {
  private readonly kinds = new Map<string, { kind: 'file' | 'folder'; spelling: string }>();

  constructor(private readonly membersMax: number) {}

  /** Throws ArchiveRefused for a name that is malformed or taken. Folders above it are counted as members too. */
  add(kind: 'file' | 'folder', name: string): void {
    const fault = nameFault(name);
    if (fault !== null) throw new ArchiveRefused(fault);
    for (let slash = name.indexOf('/'); slash !== -1; slash = name.indexOf('/', slash + 1)) {
      this.take('folder', name.slice(0, slash));
    }
    if (kind === 'file' && this.kinds.has(folded(name))) throw new ArchiveRefused('two members have the same name');
    this.take(kind, name);
  }

  private take(kind: 'file' | 'folder', name: string): void {
    const key = folded(name);
    const known = this.kinds.get(key);
    if (known === undefined) {
      if (this.kinds.size >= this.membersMax)
        throw new ArchiveRefused(`more than ${this.membersMax} files and folders`);
      this.kinds.set(key, { kind, spelling: name });
    } else if (known.kind !== kind || known.spelling !== name) {
      throw new ArchiveRefused('two members have the same name');
    }
  }
}

/** Why `name` cannot be a member's name; null when it can. */
function nameFault(name: string): string | null {
  if (name === '') return 'a name is empty';
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) return `a name is longer than ${NAME_BYTES_MAX} bytes`;
  // U+FFFD replaces bytes that are not UTF-8: two different names would look the same.
  if (/[\p{Cc}\uFFFD]/u.test(name)) return 'a name holds control characters or is not UTF-8';
  if (name.includes('\\')) return 'a name holds a backslash';
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) return 'a name is absolute';
  const segments = name.split('/');
  if (segments.length > DEPTH_MAX) return `a name is deeper than ${DEPTH_MAX} folders`;
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..') return 'a name holds an empty, "." or ".." part';
    if (/[. ]$/.test(segment)) return 'a name ends in a dot or a space';
    if (Buffer.byteLength(segment) > SEGMENT_BYTES_MAX)
      return `a part of a name is longer than ${SEGMENT_BYTES_MAX} bytes`;
  }
  return null;
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}
