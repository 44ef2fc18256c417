// The files that the steps of a run have saved. In device mode they are opened here, and the service sees no name of them.
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Content } from './content.ts';
import { NotFoundError } from './errors.ts';
import type { RequestOptions, Requests } from './requests.ts';
import { isWhole, type Run, runPath } from './run.ts';
import { type RunFile, tarFiles } from './tar-files.ts';

export class RunFiles {
  constructor(
    private readonly requests: Requests,
    private readonly content: Content,
  ) {}

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
  async download(runId: string, path: string, options: RequestOptions = {}): Promise<Readable> {
    const run = await this.read(runId, options);
    const opened = await this.content.archiveOf(run);
    if (opened === null) return readable(await this.chunks(`${filesPath(run)}/${encodedPath(path)}`, options));
    const input = path.startsWith('inputs/')
      ? await this.content.inputFileOf(run.run_id, path, options.signal)
      : undefined;
    // The service has another name of it.
    if (input !== undefined) {
      return readable(input.opened(await this.chunks(`${filesPath(run)}/inputs/${input.fileId}/file`, options)));
    }
    const { memberIn } = await import('./sealed-files.ts');
    const content = await memberIn(opened(await this.chunks(filesPath(run), options)), path);
    if (content === null) throw new NotFoundError('not_found', 'The run has no file at this path.');
    return readable(content);
  }

  /** All files of its steps, as a gzip tar. */
  async archive(runId: string, options: RequestOptions = {}): Promise<Readable> {
    const run = await this.read(runId, options);
    const opened = await this.content.archiveOf(run);
    const archive = await this.chunks(filesPath(run), options);
    return readable(opened === null ? archive : opened(archive));
  }

  /** Whether the files are sealed depends on the run. */
  private read(runId: string, { signal }: RequestOptions): Promise<Run> {
    return this.requests.send({ verb: 'GET', path: runPath(runId), signal, is: isWhole });
  }

  private async chunks(path: string, { signal }: RequestOptions): Promise<AsyncGenerator<Uint8Array>> {
    const exchange = await this.requests.open({ verb: 'GET', path, signal });
    return exchange.chunks(this.requests.settings.timeoutMs);
  }
}

function filesPath({ run_id: runId }: Run): string {
  return `${runPath(runId)}/files`;
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function readable(chunks: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(chunks, { objectMode: false });
}
