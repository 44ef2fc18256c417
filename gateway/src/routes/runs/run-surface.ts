// Where the run routes stand: for programs under /v1, and the same ones for people under /api.

export interface RunSurface {
  readonly url: '/v1/runs' | '/api/runs';
  /** Records of local runs are found here as well. */
  readonly people: boolean;
}

export const PROGRAMS: RunSurface = { url: '/v1/runs', people: false };
export const PEOPLE: RunSurface = { url: '/api/runs', people: true };

/** What a route says of itself; the description of the API wants each name once. */
export function describedRun({ people }: RunSurface, operationId: string, summary: string) {
  return {
    operationId: people ? `${operationId}AsUser` : operationId,
    summary,
    tags: [people ? 'runs of users' : 'runs'],
  };
}
