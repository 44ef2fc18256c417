// What the list of runs costs a browser: the scripts before its rows, and the rows that scrolling draws.
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';

/** Those that the browser asks for before the reply with the rows has come. */
const SCRIPTS_BEFORE_ROWS = `
  (() => {
    const entries = performance.getEntriesByType('resource');
    const rows = entries.find(({ name }) => new URL(name).pathname.endsWith('/api/runs'));
    return entries.filter(({ name, startTime }) => name.endsWith('.js') && startTime < rows.responseEnd)
      .map(({ name }) => name);
  })()`;

/** The page shows the list, from an empty cache. Bytes as gzip writes them. */
export async function scriptsBeforeRows(page: Page): Promise<{ readonly bytes: number; readonly files: number }> {
  const addresses = await page.evaluate<string[]>(SCRIPTS_BEFORE_ROWS);
  let bytes = 0;
  for (const address of addresses) {
    const script = await (await fetch(address)).arrayBuffer();
    bytes += gzipSync(new Uint8Array(script), { level: 9 }).length;
  }
  return { bytes, files: addresses.length };
}

interface Drawn {
  /** Rows that came into the page. */
  readonly added: number;
  /** Changes within rows that were there before. */
  readonly changed: readonly string[];
}

/** Scrolls down by this many rows, a frame for each, and counts what the page draws meanwhile. */
export function drawnByScrolling(page: Page, rows: number): Promise<Drawn> {
  return page.evaluate<Drawn>(`(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const group = document.querySelector('[role="rowgroup"]');
    const height = group.firstElementChild.offsetHeight;
    let added = 0;
    const changed = [];
    const watcher = new MutationObserver((records) => {
      for (const { target, addedNodes } of records) {
        if (target === group) added += addedNodes.length;
        else changed.push(target.textContent);
      }
    });
    watcher.observe(group, { childList: true, subtree: true, characterData: true, attributes: true });
    for (let row = 0; row < ${rows}; row++) {
      window.scrollBy(0, height);
      await frame();
      await frame();
    }
    watcher.disconnect();
    return { added, changed };
  })()`);
}
