// `unsent.json` in the folder of a run: the last record, from before it is sent until a server has accepted it.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '@methods/method/json';
import { CommandError } from '../errors/command-error.ts';
import { replaceFile } from '../files/write-whole.ts';
import { readRunText } from '../local-run/run-files.ts';
import type { ServerApi } from '../server/server-api.ts';

const NAME = 'unsent.json';
const FORMAT = 'unsent-record/1';
const ADDRESS = /^https?:\/\/[\w.:[\]/~%-]+$/;

export interface RunRecord {
  readonly runId: string;
  /** Bare. */
  readonly methodId: string;
  readonly versionId: string;
  /** With the same sequence, sending a record again changes nothing. */
  readonly sequence: number;
  readonly inspection: JsonObject;
}

export interface UnsentRecord extends RunRecord {
  /** The address of the server it is for. */
  readonly server: string;
}

/** @throws CommandError, as ServerApi does. */
export async function sendRecord(api: ServerApi, record: RunRecord): Promise<void> {
  const { runId, methodId, versionId, sequence, inspection } = record;
  const body = { workflow_id: methodId, version_id: versionId, sequence, inspection };
  await api.send('PUT', `/api/cli/runs/${runId}`, body);
}

/** `dir`: of the run, as everywhere here. Whole or not at all, readable only by its owner: it holds results. */
export function keepUnsent(dir: string, record: UnsentRecord): Promise<void> {
  return replaceFile(fileIn(dir), `${JSON.stringify({ format: FORMAT, ...record })}\n`);
}

export function forgetUnsent(dir: string): Promise<void> {
  return rm(fileIn(dir), { force: true });
}

/** Null: all of the run's record was sent, or none was due. @throws CommandError `run_damaged`. */
export async function readUnsent(dir: string, runId: string): Promise<UnsentRecord | null> {
  try {
    const text = await readRunText(dir, NAME);
    if (text === null) return null;
    const value = JSON.parse(text) as JsonValue;
    if (isUnsent(value) && value.runId === runId) return value as unknown as UnsentRecord;
  } catch {
    // No file, or no record: the same for readers.
  }
  throw new CommandError('run_damaged', `${fileIn(dir)} does not hold the record of ${runId}`, {
    hint: 'remove the file; the run itself is whole',
  });
}

/** The command line that sends a kept record. */
export function sendCommand({ runId, server }: Pick<UnsentRecord, 'runId' | 'server'>): string {
  return `methods run --resume ${runId} --upload --server ${server}`;
}

function isUnsent(value: JsonValue): value is JsonObject {
  if (!isJsonObject(value) || value.format !== FORMAT || !isJsonObject(value.inspection)) return false;
  // It is printed within a command to copy.
  if (typeof value.server !== 'string' || !ADDRESS.test(value.server)) return false;
  const texts = [value.runId, value.methodId, value.versionId];
  return texts.every((text) => typeof text === 'string') && Number.isSafeInteger(value.sequence);
}

function fileIn(dir: string): string {
  return join(dir, NAME);
}
