// The files that the steps of a run have saved.
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { RequestOptions, Requests } from './requests.ts';
import { runPath } from './run.ts';
import { type RunFile, tarFiles } from './tar-files.ts';

export class RunFiles {
  constructor(private readonly requests: Requests) {}

  /** Reads the archive for it. */
  async list(runId: string, options: RequestOptions = {}): Promise<RunFile[]> {
    const archive = await this.archive(runId, options);
    // The reader gets the error of either; the other one ends with it.
    const unpacked = pipeline(archive, createGunzip(), () => {});
    const files: RunFile[] = [];
    for await (const file of tarFiles(unpacked)) files.push(file);
    return files;
  }

  /** The bytes of one file, by the path of its file value: `steps/<step>/files/<name>`, `inputs/<file id>/<name>`. */
  download(runId: string, path: string, options: RequestOptions = {}): Promise<Readable> {
    return this.open(`${runPath(runId)}/files/${path.split('/').map(encodeURIComponent).join('/')}`, options);
  }

  /** All files of its steps, as a gzip tar. */
  archive(runId: string, options: RequestOptions = {}): Promise<Readable> {
    return this.open(`${runPath(runId)}/files`, options);
  }

  private async open(path: string, { signal }: RequestOptions): Promise<Readable> {
    const exchange = await this.requests.open({ verb: 'GET', path, signal });
    return Readable.from(exchange.chunks(this.requests.settings.timeoutMs), { objectMode: false });
  }
}
