// A CPU profile as a picture: an SVG file that needs no script. The width of a call is its time, with all it calls; what
// is below it called it. Its text is shown when the pointer rests on it.
import type { Call } from './cpu-profile.ts';
import { KINDS, type Kind, kindOf } from './kinds.ts';

const WIDTH = 1_600;
const ROW = 16;
/** Narrower calls are left out. */
const WIDTH_MIN = 0.8;
const COLOURS = [
  '#8ecae6',
  '#90be6d',
  '#f9c74f',
  '#f8961e',
  '#b8a1e3',
  '#6fb7b7',
  '#c9ada7',
  '#dde5b6',
  '#e5989b',
  '#d6d6d6',
];

interface Box {
  readonly call: Call;
  readonly kind: Kind;
  readonly x: number;
  readonly width: number;
  readonly depth: number;
  readonly us: number;
}

export function flameGraph(title: string, root: Call): string {
  const total = timeOf(root);
  const boxes: Box[] = [];
  const place = (call: Call, callers: Kind, x: number, depth: number) => {
    const us = timeOf(call);
    const width = total === 0 ? 0 : (us / total) * WIDTH;
    if (width < WIDTH_MIN) return;
    const kind = kindOf(call) ?? callers;
    boxes.push({ call, kind, x, width, depth, us });
    let at = x;
    for (const called of merged(call.calls)) {
      place(called, kind, at, depth + 1);
      at += (timeOf(called) / total) * WIDTH;
    }
  };
  place(root, 'Node', 0, 0);
  const height = (2 + Math.max(0, ...boxes.map(({ depth }) => depth)) + 1) * ROW;
  const legend = KINDS.map((kind, i) => `<tspan fill="${COLOURS[i]}">■</tspan> ${kind} `).join(' ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="4" y="13">${escaped(title)}, ${(total / 1e6).toFixed(2)} s of CPU &#160; ${legend}</text>`,
    ...boxes.map((box) => rectangle(box, height, total)),
    '</svg>\n',
  ].join('\n');
}

function rectangle({ call, kind, x, width, depth, us }: Box, height: number, total: number): string {
  const y = height - (depth + 1) * ROW;
  const where = call.source === '' ? '' : ` ${call.source}:${call.line}`;
  const text = `${call.name}${where}, ${(us / 1_000).toFixed(0)} ms, ${((100 * us) / total).toFixed(1)} %`;
  const label = width < 40 ? '' : escaped(call.name.slice(0, Math.floor(width / 6.5)));
  return (
    `<g><title>${escaped(text)}</title>` +
    `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${COLOURS[KINDS.indexOf(kind)]}"/>` +
    `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${label}</text></g>`
  );
}

const times = new WeakMap<Call, number>();

/** With all it calls, without time in which there was no work. */
function timeOf(call: Call): number {
  const known = times.get(call);
  if (known !== undefined) return known;
  let us = call.name === '(idle)' ? 0 : call.selfUs;
  for (const called of call.calls) us += timeOf(called);
  times.set(call, us);
  return us;
}

/** Calls of one function by one caller are one box, the widest first. */
function merged(calls: readonly Call[]): Call[] {
  const byPlace = new Map<string, Call>();
  for (const call of calls) {
    const place = `${call.name} ${call.source}:${call.line}`;
    const same = byPlace.get(place);
    byPlace.set(
      place,
      same === undefined ? call : { ...call, selfUs: same.selfUs + call.selfUs, calls: [...same.calls, ...call.calls] },
    );
  }
  return [...byPlace.values()].sort((a, b) => timeOf(b) - timeOf(a));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
