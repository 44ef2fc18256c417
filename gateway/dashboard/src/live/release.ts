// Whether the server has a newer dashboard than this page: its parts may have other names by then.

export async function isNewerRelease(): Promise<boolean> {
  const own = document.querySelector<HTMLMetaElement>('meta[name="release"]')?.content;
  try {
    const reply = await fetch('/', { method: 'HEAD', headers: { accept: 'text/html' }, cache: 'no-store' });
    const theirs = reply.headers.get('methods-release');
    return own !== undefined && theirs !== null && theirs !== own;
  } catch {
    return false;
  }
}
