// Reads the body of a local run's record. The inspection is kept as JSON, and of the rest only what a check of its
// shape needs, so that the result is small for any body.
import { type JsonFault, readJson } from '../json/json-gate.ts';

export type RecordReading =
  | { readonly ok: false; readonly fault: JsonFault }
  | {
      readonly ok: true;
      /** The body with every inner list and object emptied, and with few names and short texts. */
      readonly outline: unknown;
      /** Null: there is no `inspection`. */
      readonly inspectionJson: string | null;
    };

/** Longer than the text of any known field. */
const CHARACTERS_KEPT = 1_000;
const NAMES_KEPT = 20;

export function readRecord(bytes: Uint8Array, weightMax: number): RecordReading {
  const reading = readJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), weightMax);
  if (!reading.ok) return reading;
  const { value } = reading;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: true, outline: emptied(value), inspectionJson: null };
  }
  const fields = Object.entries(value).slice(0, NAMES_KEPT);
  const outline = Object.fromEntries(fields.map(([name, field]) => [name.slice(0, CHARACTERS_KEPT), emptied(field)]));
  if (!Object.hasOwn(value, 'inspection')) return { ok: true, outline, inspectionJson: null };
  const { inspection } = value as { inspection: unknown };
  return {
    ok: true,
    outline: { ...outline, inspection: emptied(inspection) },
    inspectionJson: JSON.stringify(inspection),
  };
}

function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (typeof value === 'string') return value.slice(0, CHARACTERS_KEPT);
  return typeof value === 'object' && value !== null ? {} : value;
}
