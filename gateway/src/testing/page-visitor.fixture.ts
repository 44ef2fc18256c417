// A person at the page of a question, in a test: what they see, and what the run gets.
import type { ServiceError } from '@methods/errors/service-error';
import type { AskedQuestion, GivenAnswer, SentAnswer } from '../routes/answer-page/asked-question.ts';
import type { PageContent } from '../routes/answer-page/page-frame.ts';
import { type PageVisit, postedPage, shownPage } from '../routes/answer-page/page-visit.ts';
import { RECIPIENT } from './asked-question.fixture.ts';
import { PlayedBrowser } from './played-browser.fixture.ts';

export const NOW_MS = Date.UTC(2026, 10, 23, 13, 31);

export const APPROVED: GivenAnswer = {
  by: 'Grace',
  linkRecipient: '',
  atMs: NOW_MS,
  answerJson: '{"decision":"approve"}',
  comment: '',
};

export class Visitor {
  readonly sent: SentAnswer[] = [];
  readonly delegates: string[] = [];
  refusal: ServiceError | null = null;
  /** The state of the question while an answer was on its way. */
  later: AskedQuestion | null = null;
  nowMs = NOW_MS;

  constructor(
    public question: AskedQuestion,
    private readonly changes: Partial<PageVisit> = {},
  ) {}

  get page(): PageContent {
    return shownPage(this.visit, undefined);
  }

  look(show?: string): PlayedBrowser {
    return this.browser(shownPage(this.visit, show));
  }

  private browser({ main }: PageContent): PlayedBrowser {
    return new PlayedBrowser(main.text, async (posted) => {
      const page = await postedPage(this.visit, posted);
      this.last = page;
      return page.main.text;
    });
  }

  last: PageContent | null = null;

  private get visit(): PageVisit {
    return {
      question: this.question,
      visitor: RECIPIENT,
      secret: 'a'.repeat(43),
      signInPath: '/auth/login?return_to=/q',
      nowMs: this.nowMs,
      answer: async (sent) => {
        if (this.refusal !== null) throw this.refusal;
        this.sent.push(sent);
        const given = { ...APPROVED, by: RECIPIENT.name, linkRecipient: RECIPIENT.name, answerJson: sent.answerJson };
        return { ...this.question, state: 'answered', receipt: given };
      },
      delegate: async (to) => {
        if (this.refusal !== null) throw this.refusal;
        this.delegates.push(to);
        return 'Grace';
      },
      again: async () => this.later ?? this.question,
      ...this.changes,
    };
  }
}
