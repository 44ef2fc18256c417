// Chooses where recordings are stored: in the registry's own Postgres, or in S3 by configuration.
import type { BlobStore } from '@methods/blobs/blob-store';
import { PostgresBlobStore } from '@methods/blobs/postgres-blob-store';
import { S3BlobStore } from '@methods/blobs/s3-blob-store';
import type { InjectionToken } from 'tsyringe';
import type { BlobsConfig } from '../config.ts';
import type { Database } from '../store/registry-database.ts';

export const Blobs: InjectionToken<BlobStore> = Symbol('Blobs');

export function openBlobs(config: BlobsConfig, sql: Database): BlobStore {
  if (config.kind === 'postgres') return new PostgresBlobStore(sql, 'registry');
  return new S3BlobStore({ ...config, secretAccessKey: config.secretAccessKey.reveal() });
}
