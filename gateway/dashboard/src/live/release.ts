// Whether the server has a newer dashboard than this page: its parts may have other names by then.

const HEAD_MS_MAX = 10_000;

export async function isNewerRelease(): Promise<boolean> {
  const own = document.querySelector<HTMLMetaElement>('meta[name="release"]')?.content;
  const theirs = (await askForPage())?.headers.get('methods-release') ?? null;
  return own !== undefined && theirs !== null && theirs !== own;
}

/** The head of the page as it would load now. Null: the server does not answer. */
export async function askForPage(): Promise<Response | null> {
  try {
    const signal = AbortSignal.timeout(HEAD_MS_MAX);
    return await fetch('/', { method: 'HEAD', headers: { accept: 'text/html' }, cache: 'no-store', signal });
  } catch {
    return null;
  }
}
