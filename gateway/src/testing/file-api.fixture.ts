// One gateway for all tests of a file, and the people in them.
import { after, before } from 'node:test';
import { type ApiFixture, type Asking, commonRegistryApi } from './api.fixture.ts';

export interface FileApi {
  /** Only within tests. */
  readonly running: () => ApiFixture;
  readonly admin: Asking;
  readonly member: Asking;
  readonly viewer: Asking;
  /** An admin of another organization. */
  readonly stranger: Asking;
}

/** Started before the first test of the file, stopped after the last. */
export function fileApi(): FileApi {
  let api: ApiFixture | undefined;
  let starting: Promise<ApiFixture> | undefined;
  // Other hooks of the file may ask before this one has run.
  const started = () => {
    starting ??= commonRegistryApi();
    return starting;
  };
  before(async () => {
    api = await started();
  });
  after(() => api?.[Symbol.asyncDispose]());

  const running = () => {
    if (api === undefined) throw new Error('the gateway did not start');
    return api;
  };
  const as = (...who: Parameters<ApiFixture['person']>): Asking => {
    let asking: Promise<Asking> | undefined;
    return async (...request) => {
      asking ??= started().then((fixture) => fixture.person(...who));
      return (await asking)(...request);
    };
  };
  return { running, admin: as('admin'), member: as('member'), viewer: as('viewer'), stranger: as('admin', 'others') };
}
