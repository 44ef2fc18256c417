// The cells of the matrix: every route with every credential and whose object, each with the answer that is due.
import { randomUUID } from 'node:crypto';
import { type Dispatcher, request } from 'undici';
import { EXAMPLES, type Example, type ExampleRow } from './examples.ts';
import type { Objects } from './organizations.ts';
import { type Credential, isUnsafe, type Verdict, verdictOf, type Whose } from './rules.ts';
import { nameOf, type RunningRoute } from './running-routes.ts';

export interface Cell {
  readonly route: RunningRoute;
  readonly row: ExampleRow;
  readonly credential: Credential;
  /** Null: the request names no object. */
  readonly whose: Whose | null;
  readonly verdict: Verdict;
}

export type ObjectsOf = Readonly<Record<Whose, Objects>>;

export function cellsOf(
  routes: readonly RunningRoute[],
  credentials: readonly Credential[],
  objects: ObjectsOf,
): Cell[] {
  return routes.flatMap((route) =>
    (EXAMPLES[nameOf(route)] ?? []).flatMap((row) =>
      credentials.flatMap((credential) =>
        namedIn(row, objects).map((whose) => {
          const verdict = verdictOf(route, credential, { whose, closed: row.closed === true });
          return { route, row, credential, whose, verdict };
        }),
      ),
    ),
  );
}

function namedIn(row: ExampleRow, { ours, theirs }: ObjectsOf): readonly (Whose | null)[] {
  const text = (objects: Objects) => JSON.stringify(row.request(objects, '', ours));
  return text(ours) === text(theirs) ? [null] : ['ours', 'theirs', 'missing', 'another kind'];
}

export interface Answer {
  readonly status: number;
  /** Without the date. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const WITHIN_MS = 120_000;

export class CellRequests {
  /** So that answers can be compared byte by byte. */
  private readonly requestId = 'the-same';

  constructor(
    private readonly baseUrl: string,
    private readonly objects: ObjectsOf,
  ) {}

  /** The cell's request with the cell's object, or another one. */
  async send({ route, row, credential, whose }: Cell, other: Whose | null = whose): Promise<Answer> {
    const { path, body, bytes, headers }: Example = row.request(
      this.objects[other ?? 'ours'],
      randomUUID(),
      this.objects[credential.organization ?? 'ours'],
    );
    const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(body));
    // A fifth of what `fetch` takes of the processor, for thirteen thousand requests.
    const reply = await request(this.baseUrl + path, {
      method: route.method as Dispatcher.HttpMethod,
      headers: {
        'x-request-id': this.requestId,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...credential.headers(isUnsafe(route.method)),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
      headersTimeout: WITHIN_MS,
      bodyTimeout: WITHIN_MS,
    });
    const { date: _date, ...kept } = Object.fromEntries(
      Object.entries(reply.headers).map(([name, value = '']) => [name, [value].flat().join(', ')]),
    );
    return { status: reply.statusCode, headers: kept, text: await textOf(reply) };
  }
}

/** Of a stream of events the beginning: it has no end while its run has none. */
async function textOf({ headers, body }: Dispatcher.ResponseData): Promise<string> {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return body.text();
  for await (const chunk of body) return Buffer.from(chunk).toString();
  return '';
}

/** For a person to read. */
export function nameOfCell({ route, credential, whose }: Cell): string {
  return `${nameOf(route)}, ${credential.name}${whose === null ? '' : `, ${whose}`}`;
}
