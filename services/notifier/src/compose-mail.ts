// Wires the parts that send mail: the recipients, the stored mails and links, and the SMTP server.
import type { Clock } from '@methods/base/clock';
import type { OrgId, UserId } from '@methods/base/ids';
import type { Stoppable } from '@methods/base/stoppable';
import type { Logger } from '@methods/logging/logger';
import type { Sql } from '@methods/postgres/pool';
import type { AccountService } from '@methods/proto/registry/v1/account_service_pb';
import type { Client } from '@methods/rpc/client';
import type { MailSettings } from './config.ts';
import { type AnnounceOptions, announce } from './email/announce.ts';
import { MailSender } from './email/mail-sender.ts';
import { smtp } from './email/smtp.ts';
import { findLink, storeLinks } from './store/answer-links.ts';
import { closedQuestions } from './store/mailed-questions.ts';
import { isPassing } from './store/passing-faults.ts';
import { digestParts, storeMails } from './store/store-mails.ts';
import { AddressPlaces } from './webhook/address-places.ts';

/** Connections to the SMTP server; an organization uses at most half of them. */
export const PLACES = { placesMax: 8, perOrganizationMax: 4, waitMs: 100 };
const REGISTRY_TIMEOUT_MS = 2_500;

export interface MailParts {
  readonly settings: MailSettings;
  readonly sql: Sql;
  readonly accounts: Pick<Client<typeof AccountService>, 'listRecipients'>;
  readonly hasAccess: (orgId: OrgId, userId: UserId) => Promise<boolean>;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** There are mails to send. */
  readonly onStored: () => void;
  readonly logger: Logger;
}

export function composeMail(parts: MailParts): Pick<MailSender, 'send'> & Pick<Stoppable, 'stop'> {
  const { settings, sql, accounts, hasAccess, clock, timeoutMs, onStored, logger } = parts;
  const { links, from, smtpUrl } = settings;
  const announceOptions: AnnounceOptions = {
    recipients: (orgId, methodId, to, exceptUserId) =>
      accounts.listRecipients({ orgId, methodId, to: [...to], exceptUserId }, { timeoutMs: REGISTRY_TIMEOUT_MS }),
    store: (announced, mails) => storeMails(sql, announced, mails, clock.wallMs()),
    links,
    clock,
    onStored,
    logger,
  };
  const server = smtp({ url: smtpUrl.reveal(), connectionsMax: PLACES.placesMax, timeoutMs });
  const sender = new MailSender({
    smtp: server,
    from,
    links,
    announce: (delivery, announcement) => announce(announceOptions, delivery, announcement),
    findLink: (tokenSha256) => findLink(sql, tokenSha256),
    storeLink: (link) => storeLinks(sql, [link]),
    closedQuestions: (orgId, questionIds) => closedQuestions(sql, orgId, questionIds),
    digestParts: (orgId, deliveryId) => digestParts(sql, orgId, deliveryId),
    hasAccess,
    places: new AddressPlaces({ ...PLACES, clock }),
    isPassing,
    clock,
    timeoutMs,
    logger,
  });
  return { send: (delivery, stop) => sender.send(delivery, stop), stop: () => server.close() };
}

/** Without an SMTP server, mails already stored wait, and then end. */
export function noMail(clock: Clock): Pick<MailSender, 'send'> {
  const result = { durationMs: 0, httpStatus: 0, error: 'no_smtp_server', answerStart: '' };
  return { send: async () => ({ kind: 'tried', result: { ...result, startedAtMs: clock.wallMs() } }) };
}
