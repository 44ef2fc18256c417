// The hint for an error without its own, by its code.

const HINTS: Readonly<Record<string, string>> = {
  idempotency_conflict: 'send the same values as the first time, or use another key',
  interrupted: 'call the command again',
  invalid_answer: 'see its form with  methods answer RUN_ID',
  invalid_inputs: 'see the inputs with  methods show METHOD,  or for a file with  methods types FILE',
  link_unreadable: 'check who may read the file',
  not_found: 'is it the right name, and this the right folder?',
  not_revoked: 'try again, or end the sign-in at the issuer',
  not_written: 'check what is there and who may write there, or choose another place',
  question_changed: 'see the open question with  methods answer RUN_ID',
  run_busy: 'wait for it, or end it',
  run_damaged: 'start the method again:  methods run FILE',
  run_finished: 'see it with  methods runs show RUN_ID,  or do it again with  methods runs rerun RUN_ID',
  too_large: 'is it the right file?',
  unreachable: 'try again in a moment',
};

/** `help`: where the command itself is explained, for all others. */
export function hintOf(code: string, help: string): string {
  return (Object.hasOwn(HINTS, code) ? HINTS[code] : undefined) ?? `see  ${help}`;
}
