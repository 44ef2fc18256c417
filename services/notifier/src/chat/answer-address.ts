// Returns where the button of a chat's message leads. Anyone who sees the message may use it: a question without rules
// about people is answered by a separate link, in the name of the endpoint; one with such rules requires sign-in.
import type { Clock } from '@methods/base/clock';
import type { QuestionId } from '@methods/base/ids';
import { type LinkSettings, linkExpiresAtMs, makeLink, type NewLink } from '../answer-link/answer-link.ts';
import type { ClaimedDelivery } from '../delivery/delivery.ts';

export interface AnswerAddressParts {
  /** Null: there are no answer links. */
  readonly links: LinkSettings | null;
  /** Durable when it resolves; a known link is kept. */
  readonly storeLink: (link: NewLink) => Promise<void>;
  readonly clock: Clock;
}

/** The members of a stored body that say where a question is answered. */
interface AskingBody {
  readonly people_only?: true;
  readonly on_device?: true;
  readonly question?: { readonly id: QuestionId; readonly deadline_at: string | null };
}

/** Null: the event asks nothing, or there are no links. The link is stored before it is returned. */
export async function answerAddress(
  { links, storeLink, clock }: AnswerAddressParts,
  { orgId, runId, endpointId, body }: Pick<ClaimedDelivery, 'orgId' | 'runId' | 'endpointId' | 'body'>,
  endpointName: string,
): Promise<string | null> {
  const { people_only: peopleOnly, on_device: onDevice, question } = JSON.parse(body.toString('utf8')) as AskingBody;
  // No page can read a question of a run in device mode.
  if (links === null || question === undefined || onDevice) return null;
  const { id: questionId, deadline_at: deadline } = question;
  // The page of the question requires sign-in.
  if (peopleOnly) return `${links.publicUrl}/questions/${encodeURIComponent(questionId)}`;
  const { url, tokenSha256 } = makeLink(links, { orgId, questionId, recipient: endpointId, n: 0 });
  const expiresAtMs = linkExpiresAtMs(deadline === null ? 0 : Date.parse(deadline), clock.wallMs());
  const recipient = { recipient: endpointName, userId: '', endpointId } as const;
  await storeLink({ orgId, tokenSha256, runId, questionId, ...recipient, expiresAtMs });
  return url;
}
