// Whether the server has a newer dashboard than this page: its parts may have other names by then.

/** Null in development. */
export function ownRelease(): string | null {
  return document.querySelector<HTMLMetaElement>('meta[name="release"]')?.content ?? null;
}

/** The server's; null: it does not answer, or it has none. */
export async function askRelease(): Promise<string | null> {
  try {
    const reply = await fetch('/', { method: 'HEAD', headers: { accept: 'text/html' }, cache: 'no-store' });
    return reply.headers.get('methods-release');
  } catch {
    return null;
  }
}

export async function isNewerRelease(): Promise<boolean> {
  const [own, theirs] = [ownRelease(), await askRelease()];
  return own !== null && theirs !== null && theirs !== own;
}
