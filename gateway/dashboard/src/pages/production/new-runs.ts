// Runs that start while the list is open gather beside it, and runs of the list change where they are. Pure.
import type { ListedRun } from '../../api/shapes.ts';

export interface ListPages {
  readonly pages: readonly { readonly items: readonly unknown[]; readonly next_cursor: string | null }[];
  readonly pageParams: readonly unknown[];
}

/** Puts the run in the place of its earlier state; null: the list does not have it. */
export function withChangedRun<Pages extends ListPages>(list: Pages, run: ListedRun): Pages | null {
  const at = list.pages.findIndex(({ items }) => items.some((each) => (each as ListedRun).run_id === run.run_id));
  if (at < 0) return null;
  const pages = list.pages.map((page, index) => {
    if (index !== at) return page;
    const items = page.items.map((each) => {
      const known = each as ListedRun;
      // An event has no content: what only the list knows stays.
      return known.run_id === run.run_id ? { ...known, ...run, error: withLine(run.error, known.error) } : each;
    });
    return { ...page, items };
  });
  return { ...list, pages };
}

function withLine(error: ListedRun['error'], known: ListedRun['error']): ListedRun['error'] {
  return error === undefined ? error : { ...known, ...error };
}

/** Whether the list would show this new run, as far as an event says. */
export function isOfFilter(run: ListedRun, filter: Readonly<Record<string, string>>): boolean {
  const { status, method, version, created_before: before } = filter;
  if (before !== undefined && Date.parse(run.timing.created_at) >= Date.parse(before)) return false;
  if (status !== undefined && run.status !== status) return false;
  if (method !== undefined && run.method.replace(/^wf_/, '') !== method.replace(/^wf_/, '')) return false;
  if (version !== undefined && run.version_id !== version) return false;
  return Object.entries(filter).every(
    ([name, value]) => !name.startsWith('metadata.') || run.metadata[name.slice('metadata.'.length)] === value,
  );
}

/** Newer than everything in the list, in the list's own order. */
export function isNewer(run: ListedRun, newest: ListedRun | undefined): boolean {
  if (newest === undefined) return true;
  const [own, other] = [Date.parse(run.timing.created_at), Date.parse(newest.timing.created_at)];
  return own === other ? run.run_id > newest.run_id : own > other;
}
