// Why no draft was made from a recording, as a sentence for people. No sentence repeats recorded content.
import type { RecordingFinding } from '@methods/method/recording/compile-recording';
import type { Compiled } from './recording-compiler.ts';

const REFUSED: Partial<Record<RecordingFinding['code'], string>> = {
  too_large: 'The recording is too large to compile: record fewer pages, or leave out images.',
  not_json: 'The file is not JSON: upload the recording as the browser saved it, not packed.',
  unknown_recording: 'The file is neither HAR nor a Chrome Recorder file.',
  too_many_entries: 'The recording has too many requests or steps: at most 20,000 can be compiled.',
  nothing_recorded: 'Nothing in the recording is left that a step could do.',
};

/** The reasons of a compilation without a draft. */
export function buildError(compiled: Exclude<Compiled, { kind: 'drafted' }>): string {
  switch (compiled.kind) {
    case 'refused':
      return REFUSED[compiled.code] ?? 'No valid draft could be made of the recording.';
    case 'draft_too_large':
      return 'The draft of the recording would be larger than 256 KiB: record fewer pages.';
    case 'incomplete':
      return 'The recording is incomplete: upload it again.';
    case 'too_much_memory':
      return 'Compiling the recording takes too much memory: record fewer pages.';
    case 'too_long':
      return 'Compiling the recording takes too long: record fewer pages.';
    case 'broke_down':
      return 'The recording could not be compiled.';
  }
}

export const NO_RESULT = 'The recording could not be compiled: several tries ended without a result.';
