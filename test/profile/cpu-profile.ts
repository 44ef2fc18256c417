// A CPU profile as a tree of calls with their sources: built code is led back to the files it was made of.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { sourcePositions } from '@methods/built-code/source-positions';

/** As V8 writes it; times in microseconds, lines and columns from 0. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
      readonly columnNumber: number;
    };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface Call {
  readonly name: string;
  /** A path below the project, `node:net`, or nothing for what is V8's own. */
  readonly source: string;
  /** 0: not known. */
  readonly line: number;
  /** Spent in it and not in what it calls, microseconds. */
  selfUs: number;
  readonly calls: Call[];
}

export function callsOf(profile: CpuProfile): Call {
  const selfUs = new Map<number, number>();
  for (const [i, id] of profile.samples.entries()) {
    selfUs.set(id, (selfUs.get(id) ?? 0) + (profile.timeDeltas[i] ?? 0));
  }
  const places = placesOf(profile);
  const calls = new Map<number, Call>();
  for (const { id, callFrame } of profile.nodes) {
    const { source, line } = places.get(placeOf(callFrame)) ?? { source: '', line: 0 };
    calls.set(id, {
      name: callFrame.functionName || '(anonymous)',
      source,
      line,
      selfUs: selfUs.get(id) ?? 0,
      calls: [],
    });
  }
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) calls.get(id)?.calls.push(calls.get(child) as Call);
  }
  return calls.get(profile.nodes[0]?.id ?? 0) ?? { name: '(root)', source: '', line: 0, selfUs: 0, calls: [] };
}

type Frame = CpuProfile['nodes'][number]['callFrame'];

function placeOf({ url, lineNumber, columnNumber }: Frame): string {
  return `${url}:${lineNumber}:${columnNumber}`;
}

function placesOf({ nodes }: CpuProfile): Map<string, { source: string; line: number }> {
  const places = new Map<string, { source: string; line: number }>();
  const byUrl = new Map<string, Map<string, Frame>>();
  for (const { callFrame } of nodes) {
    const frames = byUrl.get(callFrame.url) ?? new Map<string, Frame>();
    frames.set(placeOf(callFrame), callFrame);
    byUrl.set(callFrame.url, frames);
  }
  for (const [url, frames] of byUrl) {
    const wanted = [...frames.values()].map((frame) => ({
      line: frame.lineNumber + 1,
      column: frame.columnNumber + 1,
    }));
    const file = url.startsWith('file:') ? `${fileURLToPath(url)}.positions` : '';
    const sources = file !== '' && existsSync(file) ? sourcePositions(file, wanted) : wanted.map(() => null);
    for (const [i, [place, frame]] of [...frames].entries()) {
      const found = sources[i];
      places.set(place, {
        source: shortSource(found?.source ?? url),
        line: found?.line ?? Math.max(0, frame.lineNumber + 1),
      });
    }
  }
  return places;
}

/** The last package or folder of the project that the path names. */
function shortSource(source: string): string {
  return /(?:node_modules|libs|services|gateway|deploy|test)\/(?!.*node_modules\/).*$/.exec(source)?.[0] ?? source;
}

export function readProfile(file: string): Call | null {
  const text = readFileSync(file, 'utf8');
  return text === '' ? null : callsOf(JSON.parse(text) as CpuProfile);
}
