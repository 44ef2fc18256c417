// The ETag of a version's source, and whether a caller has it already (RFC 9110, sections 8.8.3 and 13.1.2).

/** `sha256`: hex of the source's bytes. */
export function sourceTag(sha256: string): string {
  return `"${sha256}"`;
}

/** Whether an If-None-Match header names the tag. Weak and strong tags are the same here. */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((named) => named.trim().replace(/^W\//, '') === tag);
}
