// Where a delivery goes: the address of a webhook or a chat, or of a mail.
import type { Delivery } from '../../api/shapes.ts';
import { HostileText } from '../../design/hostile-text.tsx';
import classes from './deliveries.module.css';

const MAIL = 'mailto:';

export function DeliveryTarget({ delivery: { url } }: { readonly delivery: Pick<Delivery, 'url'> }) {
  if (url === undefined) return '–';
  // It has no address: it is what makes the mails that have.
  if (url === MAIL) return <span className={classes.quiet}>finds who is mailed</span>;
  return <HostileText text={url.startsWith(MAIL) ? url.slice(MAIL.length) : url} max={200} />;
}
