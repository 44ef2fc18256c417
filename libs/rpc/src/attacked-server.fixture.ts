// The worker service in a process of its own, to be attacked and measured from outside. Keys are `org/key`.

import { type Metadata } from '@grpc/grpc-js';
import type { KeyId, OrgId } from '@methods/base/ids';
import { ServiceError } from '@methods/errors/service-error';
import { serveFrames } from './frame-stream.ts';
import { startWorkerServer } from './worker-server.fixture.ts';

const { address } = await startWorkerServer(
  {
    getVersion: async ({ method }) => ({ method }),
    work: serveFrames(() => ({ onItems() {}, onClose() {} })),
  },
  {
    elementsMax: 200_000,
    streamsPerConnectionMax: 128,
    admitMs: 1_000,
    admission: {
      async ownerOf(metadata: Metadata) {
        const [orgId, keyId] = String(metadata.get('authorization')[0] ?? '').split('/') as [OrgId | '', KeyId];
        if (orgId === '') throw new ServiceError('unauthorized');
        return { orgId, keyId };
      },
      callsMax: 20_000,
      callsPerOrganizationMax: 5_000,
      seldomPath: '',
      lookupsPerAddressMax: 64,
    },
  },
);
process.on('message', () => {
  const { rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({ rss, cpuMs: (user + system) / 1_000 });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ address });
