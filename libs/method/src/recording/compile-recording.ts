// Owns the entry point: a recording's JSON in, a draft of a method that validates out. Nothing of it is sent anywhere.

import { compileMethod } from '../compile.ts';
import { shorten, writeMethodText } from '../draft/method-text.ts';
import { methodName } from '../draft/names.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { utf8Bytes } from '../utf8-bytes.ts';
import { draftHar, harLog, type RecordingDraft } from './har-draft.ts';
import { listAt, parseJson } from './read-har.ts';
import { draftRecorder, isRecorderFile } from './recorder-draft.ts';
import type { RecordingCode, RecordingFinding } from './recording-finding.ts';

export type { RecordingFinding } from './recording-finding.ts';

export interface CompiledRecording {
  /** A method/2 text that validates; null when no draft can be made, which a finding explains. */
  readonly source: string | null;
  readonly findings: readonly RecordingFinding[];
  /** Names of the draft's inputs, each with the recorded value as its example. */
  readonly inputs: readonly string[];
  /** Names of the secrets that must be given to the worker. No recorded value of one is kept. */
  readonly secrets: readonly string[];
}

interface RecordingOptions {
  /** The method's name in words; by default those of the recording. */
  readonly name?: string;
}

const BYTES_MAX = 200 * 1_048_576;
const ENTRIES_MAX = 20_000;
const NOTES_MAX = 60;
const NOTE_CHARACTERS_MAX = 300;
const FINDINGS_MAX = 200;

/**
 * Compiles HAR 1.2 or Chrome Recorder JSON, at most 200 MiB and 20,000 entries. Pure, never throws on any input; the same
 * text always gives the same draft.
 */
export function compileRecording(json: string, options: RecordingOptions = {}): CompiledRecording {
  if (json.length > BYTES_MAX || utf8Bytes(json) > BYTES_MAX) {
    return refuse('too_large', 'a recording has at most 200 MiB: record fewer pages, or leave out images');
  }
  if (!isWithinBounds(json))
    return refuse('too_many_entries', 'the recording nests too deep, or holds too many values');
  const recording = parseJson(json.replace(/^\uFEFF/, ''));
  if (recording === undefined) return refuse('not_json', 'this is not JSON');
  const log = isJsonObject(recording) ? harLog(recording) : undefined;
  const isRecorder = isJsonObject(recording) && isRecorderFile(recording);
  if (!isJsonObject(recording) || (!log && !isRecorder)) {
    return refuse('unknown_recording', 'this is neither HAR (log.entries) nor a Chrome Recorder file (steps)');
  }
  if ((log ? listAt(log, 'entries') : listAt(recording, 'steps')).length > ENTRIES_MAX) {
    return refuse('too_many_entries', `a recording has at most ${ENTRIES_MAX} entries`);
  }
  return finish(log ? draftHar(log) : draftRecorder(recording), options.name?.trim());
}

function finish(draft: RecordingDraft, name: string | undefined): CompiledRecording {
  const { findings, body } = draft;
  if (body === null) {
    const missing = { code: 'nothing_recorded', message: 'nothing is left that a step could do', place: '' } as const;
    return { ...NOTHING, findings: [missing, ...findings].slice(0, FINDINGS_MAX) };
  }
  const source = sourceOf(draft, body, name === undefined || name === '' ? draft.title : name);
  const problem = compileMethod(source).diagnostics.find(({ severity }) => severity === 'error');
  if (problem) {
    const message = `the draft is not valid: ${problem.code} ${problem.message}`;
    const invalid = { code: 'draft_invalid', message, place: problem.path } as const;
    return { ...NOTHING, findings: [invalid, ...findings].slice(0, FINDINGS_MAX) };
  }
  return { source, findings: findings.slice(0, FINDINGS_MAX), inputs: draft.inputs, secrets: draft.secrets };
}

function sourceOf({ findings }: RecordingDraft, body: JsonObject, title: string): string {
  const notes = findings.slice(0, NOTES_MAX).map(({ message, place }) => {
    const note = place === '' ? message : `${message} (${place})`;
    return ` - ${shorten(note, NOTE_CHARACTERS_MAX).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')}`;
  });
  const more = findings.length > NOTES_MAX ? [` - and ${findings.length - NOTES_MAX} more`] : [];
  const name = methodName(title, 'recorded');
  const words: JsonObject = title === name ? {} : { title: shorten(title, 200) };
  return writeMethodText({
    head: ['Draft from a recording. Review it before publishing:', ...notes, ...more],
    method: { format: 'method/2', name, ...words, ...body },
  });
}

const NOTHING = { source: null, inputs: [], secrets: [] } as const;

function refuse(code: RecordingCode, message: string): CompiledRecording {
  return { ...NOTHING, findings: [{ code, message, place: '' }] };
}

// Checks JSON before it is parsed: a parser keeps its place in every open bracket, so that a few hundred MiB of nothing
// but brackets take many times as much memory, which no limit of a thread's heap counts.

const LEVELS_MAX = 200;
/** Recorded bodies are strings; what is outside of them is small. */
const MARKS_MAX = 5_000_000;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Whether `json` may be parsed: at most 200 levels and 5,000,000 brackets, commas and colons. */
export function isWithinBounds(json: string): boolean {
  let levels = 0;
  let marks = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(json, i);
        continue;
      case OPEN_LIST:
      case OPEN_OBJECT:
        levels++;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        levels--;
        break;
      case COMMA:
      case COLON:
        break;
      default:
        continue;
    }
    marks++;
    if (levels > LEVELS_MAX || marks > MARKS_MAX) return false;
  }
  return true;
}

function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return json.length;
}
