// How the inputs of a run in device mode name a sealed file: by all that is known of it, since only they are sealed with
// it. The format is in docs/device-mode.md.

export interface SealedReference {
  readonly [field: string]: string | number;
  readonly file_id: string;
  /** Replaces that of the run. */
  readonly content_id: string;
  readonly name: string;
  /** Of the plain file, as are the two below. */
  readonly bytes: number;
  readonly sha256: string;
  readonly media_type: string;
}

const FILE_ID = /^file_[0-9a-z]{26}$/;
const CONTENT_ID = /^[0-9a-f]{32}$/;

/** Whether a value names a sealed file; the opener of the file checks the rest of it. */
export function isSealedReference(value: object): value is SealedReference {
  const { file_id: fileId, content_id: contentId } = value as Partial<SealedReference>;
  return (
    typeof fileId === 'string' && typeof contentId === 'string' && FILE_ID.test(fileId) && CONTENT_ID.test(contentId)
  );
}

interface Named {
  readonly sealed: readonly SealedReference[];
  /** The places of files that were not sealed, as JSON Pointers. */
  readonly plain: readonly string[];
}

/** The files that inputs name, wherever they are: who seals inputs need not know the types of the method. */
export function filesNamedIn(inputs: unknown): Named {
  const sealed: SealedReference[] = [];
  const plain: string[] = [];
  const look = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return;
    if (isSealedReference(value)) sealed.push(value);
    else if (isPlainReference(value)) plain.push(path);
    else for (const [name, member] of Object.entries(value)) look(member, `${path}/${pointerPart(name)}`);
  };
  look(inputs, '');
  return { sealed, plain };
}

/** `{"file_id": "file_…"}`, and nothing else. */
function isPlainReference(value: object): boolean {
  const { file_id: fileId, ...rest } = value as { readonly file_id?: unknown };
  return typeof fileId === 'string' && FILE_ID.test(fileId) && Object.keys(rest).length === 0;
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
