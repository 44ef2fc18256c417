// Parts of the dashboard that are loaded when they are first shown. A server that does not answer for a while, as when
// it restarts, delays a part: it is no reason to reload the page, which would lose what the person has typed.
import { lazyRouteComponent } from '@tanstack/react-router';
import { type ComponentType, lazy } from 'react';
import { pause } from '../live/pause.ts';
import { askForPage } from '../live/release.ts';

const FIRST_WAIT_MS = 250;
const WAIT_MS_MAX = 5_000;
const REFUSALS_MAX = 3;
/** In the words of Chromium, of Firefox, and of Safari. */
const MISSING = /dynamically imported module|Importing a module script/;

/** Whether the error says that a part could not be loaded. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof Error && MISSING.test(error.message);
}

/** A component that is loaded when it is first drawn. */
// biome-ignore lint/suspicious/noExplicitAny: any properties
export function part<Part extends ComponentType<any>>(load: () => Promise<Part>) {
  return lazy(async () => ({ default: await loaded(load) }));
}

/** A page that is loaded when its address is first opened, or a link to it is pointed at. */
// biome-ignore lint/suspicious/noExplicitAny: any properties
export function pagePart<Part extends ComponentType<any>>(load: () => Promise<Part>) {
  return lazyRouteComponent(async () => ({ default: await loaded(load) }));
}

/** Rejects when the server answers and still does not have the part, as after an update. */
async function loaded<Part>(load: () => Promise<Part>): Promise<Part> {
  let refusals = 0;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    try {
      return await load();
    } catch (error) {
      if (!isMissingPart(error)) throw error;
      if ((await askForPage())?.ok) refusals++;
      // During an update another gateway may have it.
      if (refusals === REFUSALS_MAX) throw error;
      await pause(waitMs * (0.5 + Math.random()));
    }
  }
}
