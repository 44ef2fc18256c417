// Makes stack traces of built code name the lines of the sources. (Node's own --enable-source-maps reads every map when
// its code is loaded, and keeps it.) Every piece of built code imports this first.
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type SourcePosition, sourcePositions } from './source-positions.ts';

/** In built code the folder of all of it. */
const FOLDER = `${pathToFileURL(import.meta.dirname).href}/`;
/** The same faults recur. */
const KNOWN_MAX = 10_000;
const known = new Map<string, string>();

Error.prepareStackTrace = (error, sites) => {
  const places = sites.map(String);
  try {
    return [headOf(error), ...inSources(sites, places).map((place) => `    at ${place}`)].join('\n');
  } catch {
    return [headOf(error), ...places.map((place) => `    at ${place}`)].join('\n');
  }
};

function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

function inSources(sites: readonly NodeJS.CallSite[], places: readonly string[]): string[] {
  const built = sites.map(builtPlace);
  learn(new Set(built.filter((place) => place !== null && !known.has(place)) as string[]));
  return places.map((text, i) => {
    const place = built[i] ?? null;
    return place === null ? text : text.replace(place, () => known.get(place) ?? place);
  });
}

/** `url:line:column`; null for code that is not ours. */
function builtPlace(site: NodeJS.CallSite): string | null {
  const url = site.getFileName();
  return url?.startsWith(FOLDER) ? `${url}:${site.getLineNumber()}:${site.getColumnNumber()}` : null;
}

function learn(places: ReadonlySet<string>): void {
  const positions = new Map<string, { place: string; line: number; column: number }[]>();
  for (const place of places) {
    const [, url = '', line, column] = /^(.*):(\d+):(\d+)$/.exec(place) ?? [];
    const ofFile = positions.get(url) ?? [];
    ofFile.push({ place, line: Number(line), column: Number(column) });
    positions.set(url, ofFile);
  }
  for (const [url, ofFile] of positions) {
    const found = sourcePositions(`${fileURLToPath(url)}.positions`, ofFile);
    for (const [i, { place }] of ofFile.entries()) {
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(place, sourcePlace(url, found[i] ?? null) ?? place);
    }
  }
}

function sourcePlace(url: string, position: SourcePosition | null): string | null {
  return position === null
    ? null
    : `${fileURLToPath(new URL(position.source, url))}:${position.line}:${position.column}`;
}
