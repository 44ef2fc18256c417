// The rules of a question: who answers it, how many people must, and what happens at which time.

/** As the source of the question's version gives it. */
export interface AnswerPolicy {
  /** E-mail addresses in lower case, and roles; empty: every member. */
  readonly to: readonly string[];
  /** The person who started the run may not answer. */
  readonly notStarter: boolean;
  /** How many different people must give the same answer; null: one answer decides. */
  readonly needs: NeededVotes | null;
  /** Times after the question, ascending. */
  readonly remindMs: readonly number[];
  readonly escalate: { readonly afterMs: number; readonly to: readonly string[] } | null;
  /** The answer at the deadline; null: the run fails. */
  readonly timeoutAnswerJson: string | null;
}

export interface NeededVotes {
  readonly count: number;
  /** The fields that must be equal; empty: all. */
  readonly on: readonly string[];
}
