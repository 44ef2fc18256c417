// The runs of one folder: `.methods/runs/<run_id>` below the folder of the call.
import { createHash } from 'node:crypto';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@methods/base/ids';
import { tryLockFile } from '@methods/base/lock-file';
import { RunFolder } from '@methods/executor/run-folder';
import type { JsonObject } from '@methods/method/json';
import { CommandError } from '../errors/command-error.ts';
import { type LocalMethod, localVersionId } from '../method-file/local-method.ts';
import type { MethodFile } from '../method-file/method-file.ts';
import { readRunFile, readRunText, writeRunFile, writeRunJson } from './run-files.ts';
import { JOURNAL, type JournalEvent, readJournal } from './run-journal.ts';
import { type LocalRunRecord, readRunRecord } from './run-record.ts';

/** A run that only this process uses. */
export interface OpenRun {
  /** Absolute. */
  readonly dir: string;
  readonly record: LocalRunRecord;
  readonly inputs: JsonObject;
  /** The exact bytes of the method. */
  readonly method: Buffer;
  /** The exact bytes of the files it calls, by absolute path. */
  readonly called: ReadonlyMap<string, Buffer>;
  /** Of earlier attempts. */
  readonly events: readonly JournalEvent[];
  readonly release: () => void;
}

export class LocalRuns {
  /** Absolute. */
  readonly dir: string;

  constructor(private readonly cwd: string) {
    this.dir = join(cwd, '.methods', 'runs');
  }

  /** `filled` writes the files among the inputs into the run's folder, and returns the inputs with them. */
  async create(
    file: MethodFile,
    { method, called }: LocalMethod,
    given: JsonObject,
    filled: (folder: RunFolder) => Promise<JsonObject> = () => Promise.resolve(given),
  ): Promise<OpenRun> {
    await mkdir(this.dir, { recursive: true });
    // Runs hold inputs and results, which do not belong in a repository.
    await writeFile(join(this.cwd, '.methods', '.gitignore'), '*\n');
    const sha256 = createHash('sha256').update(file.bytes).digest('hex');
    const record: LocalRunRecord = {
      format: 'local-run/1',
      run_id: newId('run'),
      method: method.name,
      file: file.path,
      sha256,
      version_id: localVersionId(file.bytes),
      status: 'running',
      attempt: 1,
      ran_ms: 0,
      started_at: new Date().toISOString(),
      ended_at: null,
      question: null,
      error: null,
    };
    const dir = join(this.dir, record.run_id);
    await mkdir(dir, { mode: 0o700 });
    const release = this.lock(record.run_id);
    await writeRunFile(dir, 'method', file.bytes);
    const copies = new Map([...called].map(([path, { bytes }]) => [path, bytes]));
    await writeCalledFiles(dir, copies);
    const inputs = await filled(RunFolder.create(this.dir, record.run_id));
    await writeRunJson(dir, 'inputs.json', inputs);
    await writeRunFile(dir, JOURNAL, '');
    // Written last: a folder without it is not a run.
    await writeRunJson(dir, 'run.json', record);
    return { dir, record, inputs, method: file.bytes, called: copies, events: [], release };
  }

  /** Null: it is not a run of this folder. @throws CommandError `run_damaged`. */
  async look(runId: string): Promise<LocalRunRecord | null> {
    // Ids become folder names, so anything else must never reach the disk.
    if (!/^run_[0-9a-z]+$/.test(runId)) return null;
    return readRunRecord(join(this.dir, runId)).catch((error) => {
      throw damaged(runId, error);
    });
  }

  /** @throws CommandError `not_found`, `run_damaged`. */
  async find(runId: string): Promise<LocalRunRecord> {
    const record = await this.look(runId);
    if (record !== null) return record;
    const elsewhere = await stat(this.dir).then(
      () => undefined,
      () => 'local runs are in .methods/runs of the folder they were started in',
    );
    throw new CommandError('not_found', `there is no local run ${runId} here`, { hint: elsewhere });
  }

  /** Continues a run. @throws CommandError `not_found`, `run_busy`, `run_damaged`. */
  async reopen(runId: string): Promise<OpenRun> {
    await this.find(runId);
    const dir = join(this.dir, runId);
    const release = this.lock(runId);
    try {
      // Read again under the lock: its former holder may have continued the run meanwhile.
      const record = await this.find(runId);
      const [method, called, inputs, events] = await Promise.all([
        readRunFile(dir, 'method'),
        readCalledFiles(dir),
        readRunFile(dir, 'inputs.json'),
        readJournal(dir),
      ]);
      if (createHash('sha256').update(method).digest('hex') !== record.sha256) {
        throw new SyntaxError('its copy of the method was changed');
      }
      return {
        dir,
        record,
        inputs: JSON.parse(inputs.toString('utf8')) as JsonObject,
        method,
        called,
        events,
        release,
      };
    } catch (error) {
      release();
      throw error instanceof CommandError ? error : damaged(runId, error);
    }
  }

  /** Only one process at a time may work on a run: a second one would run its steps twice. */
  private lock(runId: string): () => void {
    const lock = tryLockFile(join(this.dir, runId, 'lock'));
    if (lock.held) return lock.release;
    const holder = lock.pid === null ? 'another process' : `the process ${lock.pid}`;
    throw new CommandError('run_busy', `${holder} works on ${runId}`);
  }
}

function damaged(runId: string, error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CommandError('run_damaged', `the folder of ${runId} cannot be read: ${reason}`);
}

// Copies of the files that a run calls, so that it continues with the files it began with: `called/<sha256>`, by the
// names in `called/files.json`.

const LIST = 'called/files.json';

/** Nothing is written for a run that calls none. */
export async function writeCalledFiles(runDir: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  if (files.size === 0) return;
  const names: Record<string, string> = {};
  for (const [path, bytes] of files) {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    names[path] = sha256;
    await writeRunFile(runDir, `called/${sha256}`, bytes);
  }
  await writeRunJson(runDir, LIST, names);
}

/** By absolute path. Throws for a changed copy. */
export async function readCalledFiles(runDir: string): Promise<Map<string, Buffer>> {
  const text = (await readRunText(runDir, LIST)) ?? '{}';
  const files = new Map<string, Buffer>();
  for (const [path, sha256] of Object.entries(JSON.parse(text) as Record<string, string>)) {
    const bytes = await readRunFile(runDir, `called/${sha256}`);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) {
      throw new SyntaxError('its copy of a called method was changed');
    }
    files.set(path, bytes);
  }
  return files;
}
