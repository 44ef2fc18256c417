// The two surfaces of the run routes: for programs under /v1, for people under /api.

export interface RunSurface {
  readonly url: '/v1/runs' | '/api/runs';
  /** Records of local runs are listed here as well. */
  readonly people: boolean;
}

export const PROGRAMS: RunSurface = { url: '/v1/runs', people: false };
export const PEOPLE: RunSurface = { url: '/api/runs', people: true };

/** The route's part of the API description, which requires unique names. */
export function describedRun({ people }: RunSurface, operationId: string, summary: string) {
  return {
    operationId: people ? `${operationId}AsUser` : operationId,
    summary,
    tags: [people ? 'runs of users' : 'runs'],
  };
}
