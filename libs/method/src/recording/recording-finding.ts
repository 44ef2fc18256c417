// Owns the findings of a compiled recording besides its draft: what was left out, what a person must add, or why there
// is no draft.

/** One note. `place` names the part of the recording, such as `log.entries[3]` or `steps[2]`; empty for the whole. */
export interface RecordingFinding {
  readonly code: RecordingCode;
  readonly message: string;
  readonly place: string;
}

export type RecordingCode =
  /** No draft can be made. */
  | 'too_large'
  | 'not_json'
  | 'unknown_recording'
  | 'too_many_entries'
  | 'nothing_recorded'
  | 'draft_invalid'
  /** Left out of the draft. */
  | 'other_site'
  | 'failed_request'
  | 'repeated_request'
  | 'login_left_out'
  | 'unreadable_entry'
  | 'step_left_out'
  | 'too_many_steps'
  /** To be looked at. */
  | 'cookies'
  | 'credential'
  | 'upload'
  | 'first_of_list'
  | 'example_left_out';
