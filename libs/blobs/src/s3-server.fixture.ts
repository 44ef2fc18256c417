// An S3 server in the test's process, with one bucket, on a free port. Its folder is removed when it is closed.
import { rm } from 'node:fs/promises';
import { tempFolder } from '@methods/test/harness/temp-folder';
import S3rver from 's3rver';
import type { S3Options } from './s3-blob-store.ts';

export interface S3Server {
  readonly options: S3Options;
  close(): Promise<void>;
}

export async function startS3(): Promise<S3Server> {
  const bucket = 'recordings';
  const directory = tempFolder('s3');
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  return {
    // The only key it knows.
    options: {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket,
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    async close() {
      await server.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
