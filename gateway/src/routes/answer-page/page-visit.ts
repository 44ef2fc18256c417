// Decides what a visit of the page shows: the form, its faults, the answer to confirm, or the outcome of the question.
// Showing changes nothing; an answer is sent once the person has seen and confirmed it.
import { createHash } from 'node:crypto';
import { asServiceError, type ServiceError } from '@methods/errors/service-error';
import { type Form, readForm } from '@methods/form/field';
import { type PostedAnswer, readPostedAnswer } from '@methods/form/posted-answer';
import { type Typed, typedValues } from '@methods/form/typed-values';
import { TURN_EFFORT } from '@methods/method/check-value';
import { isJsonObject, type JsonValue } from '@methods/method/json';
import type { AskedQuestion, PageVisitor, SentAnswer } from './asked-question.ts';
import { delegatedPage, devicePage, endPage, notAnAnswererPage, plainPage, racedPage, sentPage } from './end-pages.ts';
import { COMMENT, COMMENT_CHARACTERS_MAX, confirmPage, type FormPageState, formPage, READ, TO } from './form-page.ts';
import { isPageNonce, type PageContent, pageNonce } from './page-frame.ts';
import { wholeValue } from './shown-value.ts';

export interface PageVisit {
  readonly question: AskedQuestion;
  readonly visitor: PageVisitor;
  /** Known only to this visitor: the link's token. */
  readonly secret: string;
  /** Null: there is no sign-in. */
  readonly signInPath: string | null;
  readonly nowMs: number;
  /** Returns the question once the answer is accepted. @throws ServiceError the refusal of the run. */
  answer(sent: SentAnswer): Promise<AskedQuestion>;
  /**
   * `to`: an address. Returns the name of the person who may now answer too. @throws ServiceError the refusal of the
   * run.
   */
  delegate(to: string): Promise<string>;
  /** Returns the question as it is now. */
  again(): Promise<AskedQuestion>;
}

type Posted = readonly (readonly [string, string])[];

const ANSWER_BYTES_MAX = 64 * 1024;
const TOO_LARGE = `is too large: an answer has at most ${ANSWER_BYTES_MAX / 1024} KiB`;
const STALE = 'This page was open for long, or it belongs to another question. Check your answer and continue.';
const NOT_SENT = 'Your answer could not be sent just now. Send it again in a moment.';
const NOT_KNOWN = 'It is not known whether your answer arrived. Send it again in a moment: it counts once.';
const NOT_HANDED_OVER = 'The question could not be handed over just now. Try again in a moment.';
const CHECK_IT = 'Your answer has changed. Check it once more.';

/** `show`: the number of a value that gets its own page. */
export function shownPage(visit: PageVisit, show: string | undefined): PageContent {
  const { question } = visit;
  const form = formOf(question);
  const ended = endOf(visit, form);
  if (ended !== null) return ended;
  const value = show !== undefined && /^\d{1,3}$/.test(show) ? question.show[Number(show)] : undefined;
  if (value !== undefined) return { status: 200, title: value.path, about: question.orgName, main: wholeValue(value) };
  if (question.refusal !== null) return notAnAnswererPage(question, form, 200);
  return formPage(question, form, { ...unfilled(visit, form), typed: typedValues(form) });
}

export async function postedPage(visit: PageVisit, posted: Posted): Promise<PageContent> {
  const { question } = visit;
  const form = formOf(question);
  const ended = endOf(visit, form);
  if (ended !== null) return ended;
  if (question.refusal !== null) return notAnAnswererPage(question, form, 403);
  return await new Post(visit, form, posted).page();
}

class Post {
  private readonly act: string;
  private readonly comment: string;
  private readonly to: string;
  private readonly posted: PostedAnswer;
  private readonly controls: Posted;

  constructor(
    private readonly visit: PageVisit,
    private readonly form: Form,
    posted: Posted,
  ) {
    this.act = textOf(posted, 'do');
    this.to = textOf(posted, TO).trim();
    this.comment = textOf(posted, COMMENT).replace(/\r\n?/g, '\n').trim();
    const dropped = this.act.startsWith('drop:') ? this.act.slice('drop:'.length) : null;
    this.controls = posted.filter(
      ([name]) => dropped === null || !(name === dropped || name.startsWith(`${dropped}/`)),
    );
    this.posted = readPostedAnswer(form, this.controls, TURN_EFFORT);
  }

  async page(): Promise<PageContent> {
    const { visit, act } = this;
    const grown = act.startsWith('add:') ? act.slice('add:'.length) : '';
    if (!isPageNonce(textOf(this.controls, 'nonce'), formNonce(visit), visit.nowMs)) {
      return this.formPage({ said: STALE, status: 400 });
    }
    if (act === 'change' || act.startsWith('add:') || act.startsWith('drop:')) return this.formPage({ grown });
    if (act === 'delegate') return await this.delegate();
    const faults = this.faults();
    if (faults.size > 0) return this.formPage({ faults, status: 422 });
    if (act !== 'send') return this.confirmPage('', 200);
    const isConfirmed = isPageNonce(textOf(this.controls, 'confirmation'), this.confirmation, visit.nowMs);
    return isConfirmed ? await this.send() : this.confirmPage(CHECK_IT, 400);
  }

  private faults(): Map<string, string> {
    const faults = new Map(this.posted.faults);
    if (Buffer.byteLength(this.answerJson) > ANSWER_BYTES_MAX && faults.size === 0) faults.set('', TOO_LARGE);
    const over = this.comment.length - COMMENT_CHARACTERS_MAX;
    if (over > 0) faults.set(COMMENT, `Comment has ${over} characters more than ${COMMENT_CHARACTERS_MAX}`);
    if (needsReading(this.form) && !this.isRead) faults.set(READ, 'Tick that you have read this');
    return faults;
  }

  private async send(): Promise<PageContent> {
    const { visit, form } = this;
    try {
      const question = await visit.answer({ answerJson: this.answerJson, comment: this.comment });
      const { by, linkRecipient, atMs } = question.receipt ?? {
        by: '',
        linkRecipient: '',
        atMs: visit.nowMs,
      };
      const answerJson = JSON.stringify(this.posted.filled ?? this.posted.answer);
      return sentPage(question, form, { by, linkRecipient, atMs, answerJson, comment: '' });
    } catch (error) {
      return this.refused(asServiceError(error));
    }
  }

  private async delegate(): Promise<PageContent> {
    const { visit, to } = this;
    if (to === '') return this.formPage({ faults: new Map([[TO, 'Address of a member needs a value']]), status: 422 });
    try {
      return delegatedPage(visit.question, await visit.delegate(to));
    } catch (error) {
      const known = asServiceError(error);
      if (known.code === 'unavailable') return this.formPage({ said: NOT_HANDED_OVER, status: 503 });
      if (known.code === 'rate_limited') return this.formPage({ said: NOT_HANDED_OVER, status: 429 });
      if (known.code !== 'invalid_request') return this.refused(known);
      const message = known.findings?.[0]?.message ?? known.message;
      return this.formPage({ faults: new Map([[TO, `${to} ${message}`]]), status: 422 });
    }
  }

  private async refused(error: ServiceError): Promise<PageContent> {
    const { visit, form } = this;
    switch (error.code) {
      case 'invalid_answer':
      case 'too_large': {
        const findings = error.findings ?? [];
        const faults = new Map(findings.map(({ path, message }) => [path, message] as const).reverse());
        return this.formPage({ faults, said: findings.length === 0 ? error.message : '', status: 422 });
      }
      case 'question_changed':
      case 'run_not_waiting':
      case 'run_finished': {
        const question = await visit.again();
        if (question.state === 'answered') return racedPage(question, form);
        return endPage(question, form, { ...visit.visitor, state: 'ended' });
      }
      case 'vote_final':
        if (visit.visitor.linkRecipient === null) {
          return notAnAnswererPage({ ...(await visit.again()), refusal: 'voted' }, form, 403);
        }
        return endPage(await visit.again(), form, { ...visit.visitor, state: 'used' });
      case 'not_an_answerer':
        return notAnAnswererPage(visit.question, form, 403);
      case 'unavailable':
        return await this.withoutReply();
      case 'rate_limited':
        return this.confirmPage(NOT_SENT, 429);
      default:
        if (error.code === 'internal') throw error;
        return plainPage(403, 'You may not answer this question', error.message);
    }
  }

  /** The answer may have arrived although no reply came: the question says so if it is over, or has the link's vote. */
  private async withoutReply(): Promise<PageContent> {
    const { visit, form } = this;
    const { linkRecipient } = visit.visitor;
    const question = await visit.again().catch(() => null);
    const isOver = question !== null && question.state !== 'open';
    const hasVote = linkRecipient !== null && question?.votes.some((vote) => vote.linkRecipient === linkRecipient);
    if (question === null || !(isOver || hasVote)) return this.confirmPage(NOT_KNOWN, 503);
    return endPage(question, form, { ...visit.visitor, state: 'used' });
  }

  private formPage(changes: Partial<FormPageState>): PageContent {
    const { visit, form, comment } = this;
    const state = {
      ...unfilled(visit, form),
      comment,
      to: this.to,
      read: this.isRead,
      typed: this.posted.typed,
      ...changes,
    };
    return formPage(visit.question, form, state);
  }

  private confirmPage(said: string, status: number): PageContent {
    const { visit, form, comment } = this;
    return confirmPage(visit.question, form, {
      answer: this.posted.filled ?? this.posted.answer,
      comment,
      replaceable: visit.visitor.linkRecipient === null,
      said,
      status,
      nonce: pageNonce(formNonce(visit), visit.nowMs),
      confirmation: pageNonce(this.confirmation, visit.nowMs),
      controls: this.controls.filter(([name]) => name.startsWith('/') || name === COMMENT || name === READ),
    });
  }

  private get confirmation() {
    return {
      token: this.visit.secret,
      shown: ['answer', this.visit.question.questionId, this.answerJson, this.comment],
    };
  }

  private get answerJson(): string {
    return JSON.stringify(this.posted.answer);
  }

  private get isRead(): boolean {
    return textOf(this.controls, READ) !== '';
  }
}

/** Null: the visitor may answer. */
function endOf({ question, visitor, signInPath }: PageVisit, form: Form): PageContent | null {
  if (question.state !== 'open' || visitor.state !== 'open') return endPage(question, form, visitor, signInPath);
  return question.formJson === '' ? devicePage(question) : null;
}

function formOf({ formJson }: AskedQuestion): Form {
  try {
    const schema = JSON.parse(formJson) as JsonValue;
    if (isJsonObject(schema)) return readForm(schema);
  } catch {
    // Kept on devices.
  }
  return readForm({});
}

function unfilled(visit: PageVisit, form: Form): Omit<FormPageState, 'typed'> {
  return {
    faults: new Map(),
    grown: '',
    comment: '',
    to: '',
    said: '',
    read: false,
    needsReading: needsReading(form),
    nonce: pageNonce(formNonce(visit), visit.nowMs),
    status: 200,
  };
}

/** Programs that follow links may press buttons too, so sending requires a choice by a person. */
function needsReading(form: Form): boolean {
  return readPostedAnswer(form, entriesOf(typedValues(form)), TURN_EFFORT).faults.size === 0;
}

function entriesOf(typed: Typed): Posted {
  return [...typed].flatMap(([name, texts]) => texts.map((text) => [name, text] as const));
}

function formNonce({ secret, question: { questionId, formJson } }: PageVisit) {
  return { token: secret, shown: ['form', questionId, createHash('sha256').update(formJson).digest('hex')] };
}

function textOf(posted: Posted, name: string): string {
  return posted.find(([each]) => each === name)?.[1] ?? '';
}
