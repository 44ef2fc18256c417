// Due deadlines that wait for their turn: organizations take turns, so that thousands of deadlines of one do not delay
// those of others.
import type { DueQuestion } from '../store/run-store.ts';

interface OfOrganization {
  readonly questions: DueQuestion[];
  /** Entries before it are gone: removing the first of a long list must not move all others. */
  next: number;
}

export class DueLine {
  private readonly orgs = new Map<string, OfOrganization>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  add(question: DueQuestion): void {
    const own = this.orgs.get(question.orgId);
    if (own === undefined) this.orgs.set(question.orgId, { questions: [question], next: 0 });
    else own.questions.push(question);
    this.count++;
  }

  /** The first deadline of the organization whose turn it is. */
  take(): DueQuestion | null {
    for (const [orgId, own] of this.orgs) {
      const question = own.questions[own.next++] as DueQuestion;
      // Served last, so last in the next round.
      this.orgs.delete(orgId);
      if (own.next < own.questions.length) this.orgs.set(orgId, own);
      this.count--;
      return question;
    }
    return null;
  }
}
